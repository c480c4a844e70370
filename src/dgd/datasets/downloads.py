"""The public data sets brought home: checked, resumed after a break, whole or not at all.

A download is resumed where the server allows it, and unpacked into a folder of its
own that appears only when it is complete. One process fetches at a time; whoever
comes second waits and uses what the first one got. A process that is killed leaves
nothing but what the next one goes on with, or clears away.
"""

import hashlib
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from ssl import SSLError
from typing import TypeAlias

from dgd.datasets.archives import FetchError, unpack
from dgd.datasets.pace import Pace
from dgd.datasets.sources import Source
from dgd.datasets.turns import turn_at

CHUNK = 1 << 18
ATTEMPTS = 3
TIMEOUT_SECONDS = 30

BytesProgress: TypeAlias = Callable[[int, int | None], None]
"""Called with the bytes that have arrived and, where the server says, their total."""


def fetch(source: Source, folder: Path, progress: BytesProgress | None = None) -> Path:
    """Bring `source` into `folder` unless it is there already; return its own folder.

    A transfer that breaks is kept and continued by the next call where the
    server can resume; otherwise, and whenever a check fails, nothing is left behind.

    Args:
        source: What to fetch.
        folder: The folder of all data sets.
        progress: Told of the bytes that have arrived.

    Returns:
        The data set's own folder in `folder`.

    Raises:
        FetchError: The download did not arrive whole, or could not be stored.
    """
    target = folder / source.folder
    lock, part = folder / f".{source.folder}.lock", folder / f"{source.archive}.part"
    try:
        if _is_there(target):
            _clear(target, lock, part)
            return target
        folder.mkdir(parents=True, exist_ok=True)
        with turn_at(lock):
            _clear(target)
            if not _is_there(target):
                _fetch(source, part, target, progress or _silent)
    except OSError as error:
        raise FetchError(
            f"{source.title} could not be stored in {folder} ({error}); choose another folder "
            "with --data or DGD_DATA."
        ) from error
    return target


def _is_there(target: Path) -> bool:
    return target.is_dir() and any(target.iterdir())


def _clear(target: Path, *files: Path) -> None:
    """Delete what processes that were killed have half unpacked, and `files` they left."""
    for left in target.parent.glob(f".{target.name}-*"):
        shutil.rmtree(left, ignore_errors=True)
    for file in files:
        with suppress(OSError):
            file.unlink()


def _fetch(source: Source, part: Path, target: Path, progress: BytesProgress) -> None:
    _download(source, part, progress)
    try:
        _check_md5(source, part)
        _unpack_whole(part, target, source)
    finally:
        part.unlink(missing_ok=True)


def _silent(done: int, total: int | None) -> None:
    """Show nothing."""


def _download(source: Source, part: Path, progress: BytesProgress) -> None:
    """Fill `part`, going on from the bytes it already has."""
    reason = ""
    for _ in range(ATTEMPTS):
        try:
            if _transfer(source, part, progress):
                return
            reason = "the connection closed early"
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                if error.headers.get("Content-Range") == f"bytes */{_held(part)}":
                    return
                part.unlink()
            reason = f"the server answered {error.code} {error.reason}"
        except (urllib.error.URLError, HTTPException, SSLError, TimeoutError, ConnectionError) as e:
            reason = str(getattr(e, "reason", e)) or type(e).__name__
    held = _held(part)
    way_out = f"{held:,} bytes are kept, run it again to go on" if held else "try again later"
    raise FetchError(
        f"{source.url} did not arrive whole ({reason}); {way_out}, or get {source.title} by hand "
        f"from {source.page}."
    )


def _held(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _transfer(source: Source, part: Path, progress: BytesProgress) -> bool:
    """One request; says whether `part` is whole, and deletes what could not be resumed."""
    held = _held(part)
    headers = {"User-Agent": "dgd"} | ({"Range": f"bytes={held}-"} if held else {})
    request = urllib.request.Request(source.url, headers=headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        resumed = answer.headers.get("Content-Range", "").startswith(f"bytes {held}-")
        held = held if resumed else 0
        length = answer.headers.get("Content-Length", "")
        total = held + int(length) if length.isdecimal() else None
        _refuse_more(source, part, total or held)
        resumable = resumed or answer.headers.get("Accept-Ranges") == "bytes"
        whole = False
        pace = Pace()
        try:
            with part.open("ab" if resumed else "wb") as file:
                while chunk := answer.read1(CHUNK):
                    held += len(chunk)
                    _refuse_more(source, part, held)
                    file.write(chunk)
                    progress(held, total)
                    pace.arrived(len(chunk))
            whole = total is None or held == total
        finally:
            if not (whole or resumable):
                part.unlink(missing_ok=True)
    return whole


def _refuse_more(source: Source, part: Path, size: int) -> None:
    """Raise where the server sends more than the data set can have."""
    if size > source.bounds.archive_bytes:
        part.unlink(missing_ok=True)
        raise FetchError(
            f"{source.url} sends {size:,} bytes or more, and {source.title} has at most "
            f"{source.bounds.archive_bytes:,}; the download was deleted: try again later, or get "
            f"it by hand from {source.page}."
        )


def _check_md5(source: Source, archive: Path) -> None:
    if source.md5 is None:
        return
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    if found != source.md5:
        raise FetchError(
            f"{source.url} has md5 {found}, not {source.md5}; the download was deleted: try "
            f"again, or get {source.title} from {source.page}."
        )


def _unpack_whole(archive: Path, target: Path, source: Source) -> None:
    """Unpack beside `target` and move there only when everything went well."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as scratch:
        whole = Path(scratch) / "whole"
        whole.mkdir()
        unpack(archive, whole, source.bounds)
        if not any(whole.iterdir()):
            raise FetchError(f"{archive.name} holds no file; fetch it again.")
        if target.is_dir():
            target.rmdir()
        whole.rename(target)
