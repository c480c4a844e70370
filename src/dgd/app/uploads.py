"""Files that a browser hands over: limited in size, and what they say they are."""

import json
import re
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from dgd.app.folder import ENDINGS
from dgd.errors import InputError, few
from dgd.tables.showing import one_line

MEGABYTE = 1 << 20
UPLOAD_LIMIT = 256
"""Megabytes that a file may have unless the shell says otherwise."""
PARQUET = b"PAR1"
LONGEST_HEADER = 100 * MEGABYTE
LONGEST_NAME = 120
PIECE = 1 << 16


@dataclass(frozen=True)
class Upload:
    """A file that was received whole."""

    name: str
    """As the browser calls it; never part of a path."""
    path: Path


async def received(
    pieces: AsyncIterator[bytes], named: str, scratch: Path, limit: int = UPLOAD_LIMIT
) -> Upload:
    """Write what arrives under a name of our own, refused as soon as it is too much.

    Args:
        named: what the browser calls the file; its ending says how it is read.
        limit: in megabytes.
    """
    name = _plain_name(named)
    path = scratch / f"{secrets.token_hex(8)}{Path(name).suffix}"
    try:
        await _write(pieces, path, name, limit)
        refuse_other_content(path, name)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return Upload(name, path)


async def _write(pieces: AsyncIterator[bytes], path: Path, name: str, limit: int) -> None:
    written = 0
    with path.open("xb") as file:
        async for piece in pieces:
            written += len(piece)
            if written > limit * MEGABYTE:
                raise InputError(
                    f'file "{name}" has more than {limit} MB, the most that is taken; put it into '
                    "the folder the app was started in, or start with dgd serve --upload-limit."
                )
            file.write(piece)
    if not written:
        raise InputError(f'file "{name}" is empty; choose another.')


def _plain_name(named: str) -> str:
    """The last part of what the browser calls the file, short enough to be shown."""
    name = one_line(re.split(r"[/\\]", named)[-1]).strip()
    if Path(name).suffix not in ENDINGS:
        raise InputError(f'file "{name}" is neither {few(ENDINGS)}; convert it first.')
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}{Path(name).suffix}"


def refuse_other_content(path: Path, name: str) -> None:
    """Refuse a file whose content is not what its ending says, before anything reads it."""
    says = {".parquet": _is_parquet, ".dgd": _is_model, ".csv": _is_text}[path.suffix]
    if not says(path):
        kind = {".parquet": "Parquet", ".dgd": "a dgd model", ".csv": "text in UTF-8"}[path.suffix]
        raise InputError(
            f'file "{name}" ends in {path.suffix} but is not {kind}; save it again as what it is.'
        )


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        first = file.read(4)
        file.seek(-min(4, path.stat().st_size), 2)
        return first == PARQUET == file.read(4)


def _is_model(path: Path) -> bool:
    """Whether it begins as a tensor file does, with dgd's own mark in its header."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(LONGEST_HEADER, path.stat().st_size):
            return False
        try:
            header = json.loads(file.read(length))
        except (ValueError, RecursionError):
            return False
    facts = header.get("__metadata__") if isinstance(header, dict) else None
    return isinstance(facts, dict) and "dgd" in facts


def _is_text(path: Path) -> bool:
    """UTF-8 without the characters that only machines write."""
    try:
        with path.open(encoding="utf-8") as file:
            return all("\0" not in piece for piece in iter(lambda: file.read(PIECE), ""))
    except UnicodeDecodeError:
        return False
