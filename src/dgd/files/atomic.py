"""Files that are whole or absent: writing goes to a neighbour first and then takes its place."""

import os
import tempfile
from pathlib import Path

from dgd.errors import InputError


def write_atomically(path: Path, content: bytes) -> None:
    """Put `content` at `path`; on any failure what stood there before still stands."""
    if not path.parent.is_dir():
        raise InputError(f'folder "{path.parent}" does not exist; make it first.')
    handle, neighbor = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(neighbor, 0o666 & ~mask)
        os.replace(neighbor, path)
    except BaseException:
        Path(neighbor).unlink(missing_ok=True)
        raise


def check_target(file: Path) -> None:
    """Refuse before any work a file that could not be written after it."""
    if file.is_dir():
        raise InputError(f'output "{file}" is a folder; name a file.')
    if not file.absolute().parent.is_dir():
        raise InputError(f'folder "{file.parent}" does not exist; make it first.')


def ready_folder(folder: Path) -> Path:
    """Make a folder for results, or refuse what is in its way."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f'output "{folder}" is a file; name a folder.')
    folder.mkdir(parents=True, exist_ok=True)
    return folder
