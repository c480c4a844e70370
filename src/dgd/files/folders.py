"""Folders that are whole or absent: filled beside their place, then put there."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dgd.errors import InputError, OutputError
from dgd.files.atomic import LONGEST_NAME, clear_abandoned, neighbor_of, ready_folder


@contextmanager
def folder_made_whole(path: Path, mark: str) -> Iterator[Path]:
    """A new folder beside `path` to be filled, which takes its place when the block ends well.

    What stands at `path` is there, whole, until then: a folder that holds the file `mark` is
    replaced, an empty one filled, and anything else refused. Where the block fails nothing is
    left; what killed writers leave behind, the next one clears.

    Args:
        path: Where the folder is wanted.
        mark: The file by which a folder of this kind is known.

    Raises:
        InputError: Something else is in the way.
        OutputError: The folder could not be put in its place.
    """
    target = Path(os.path.realpath(path))
    refuse_other_folder(path, mark)
    ready_folder(target.parent)
    clear_abandoned(target)
    _clear_aside(target)
    filled = neighbor_of(target)
    try:
        filled.mkdir()
        yield filled
        _put(filled, target)
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(
            f'folder "{path}" could not be written ({error.strerror or error}); make room or name '
            "another."
        ) from error
    finally:
        shutil.rmtree(filled, ignore_errors=True)


def refuse_other_folder(path: Path, mark: str) -> None:
    """Refuse a place where something stands that is neither empty nor known by `mark`."""
    try:
        in_the_way = path.exists() and not path.is_dir()
        strange = path.is_dir() and any(path.iterdir()) and not (path / mark).is_file()
    except (OSError, ValueError) as error:
        raise InputError(f'folder "{path}" cannot be used ({error}); name another.') from error
    if in_the_way:
        raise InputError(f'output "{path}" is a file; name a folder.')
    if strange:
        raise InputError(
            f'folder "{path}" holds other files and no {mark}; name an empty or a new one.'
        )


def _put(filled: Path, target: Path) -> None:
    """Move `filled` to `target`; what stood there steps aside first and then goes."""
    if not target.exists():
        os.rename(filled, target)
        return
    aside = _aside(target)
    os.rename(target, aside)
    try:
        os.rename(filled, target)
    except OSError:
        os.rename(aside, target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _clear_aside(target: Path) -> None:
    """Put back what a writer that was killed just then had moved aside, or remove it."""
    aside = _aside(target)
    if not aside.is_dir():
        return
    if target.exists():
        shutil.rmtree(aside, ignore_errors=True)
    else:
        with suppress(OSError):
            os.rename(aside, target)


def _aside(target: Path) -> Path:
    return target.with_name(f".{target.name[:LONGEST_NAME]}.replaced")
