"""Files that are whole or absent: writing goes to a neighbour first and then takes its place."""

import os
import secrets
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from dgd.errors import InputError, OutputError

PARTIAL = ".partial"
"""How the name of a neighbour ends until it has taken the target's place."""
LONGEST_NAME = 100
"""How much of the target's name its neighbour carries; file systems take about 250."""

TRIAL_BYTES = 1 << 16
"""How much a target must take before work for it begins; a full disk shows then."""


def write_atomically(path: Path, content: bytes) -> None:
    """Put `content` at `path`; on any failure what stood there before still stands.

    A link is followed, the mode of a file that is replaced is kept, and neighbours that killed
    writers left behind are cleared. Where writing fails the content is kept in another place.

    Raises:
        InputError: The target is no plain file or its folder does not exist.
        OutputError: Writing failed; the message says where the content is instead.
    """
    target = _plain_target(path)
    clear_abandoned(target)
    try:
        _write(target, content)
    except OSError as error:
        raise _rescued(path, content, error) from error


def check_target(file: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse before any work a file that could not be written after it, or that is its input."""
    target = _plain_target(file)
    for given in inputs:
        if given is not None and _same(target, given):
            raise InputError(
                f'output "{file}" is the input "{given}", which it would replace; name another '
                "file."
            )
    if target.exists() and not os.access(target, os.W_OK):
        raise InputError(f'output "{file}" may not be written to; name another file.')
    neighbor = neighbor_of(target)
    try:
        with os.fdopen(_create(neighbor), "wb") as trial:
            trial.write(bytes(TRIAL_BYTES))
    except OSError as error:
        raise InputError(
            f'nothing can be written to folder "{target.parent}" ({error.strerror}); name another.'
        ) from error
    finally:
        with suppress(OSError):
            neighbor.unlink(missing_ok=True)


def ready_folder(folder: Path) -> Path:
    """Make a folder for results, or refuse what is in its way."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f'output "{folder}" is a file; name a folder.')
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f'folder "{folder}" cannot be made ({error.strerror}); name another.'
        ) from error
    if not os.access(folder, os.W_OK):
        raise InputError(f'nothing can be written to folder "{folder}"; name another.')
    return folder


def _plain_target(path: Path) -> Path:
    """Where `path` leads, refused unless a plain file stands there or could."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f'output "{path}" is a folder; name a file.')
    if target.exists() and not target.is_file():
        raise InputError(
            f'output "{path}" is a device, pipe or socket, not a plain file; name a file.'
        )
    if not target.parent.is_dir():
        raise InputError(f'folder "{target.parent}" does not exist; make it first.')
    return target


def _same(target: Path, given: Path) -> bool:
    try:
        return os.path.samefile(target, given)
    except OSError:
        return False


def neighbor_of(target: Path) -> Path:
    """A new name beside the target that tells which process writes it."""
    return target.with_name(f"{_stem(target)}{os.getpid()}.{secrets.token_hex(4)}{PARTIAL}")


def _stem(target: Path) -> str:
    return f".{target.name[:LONGEST_NAME]}.{socket.gethostname()}."


def _create(file: Path) -> int:
    """A new file under the user's mask, open for writing."""
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)


def _write(target: Path, content: bytes) -> None:
    neighbor = neighbor_of(target)
    try:
        with os.fdopen(_create(neighbor), "wb") as file:
            if target.exists():
                os.chmod(neighbor, stat.S_IMODE(target.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(neighbor, target)
    except BaseException:
        with suppress(OSError):
            neighbor.unlink(missing_ok=True)
        raise


def clear_abandoned(target: Path) -> None:
    """Remove neighbours of the same target whose writers on this machine no longer run."""
    stem = _stem(target)
    with suppress(OSError):
        for entry in os.scandir(target.parent):
            if not (entry.name.startswith(stem) and entry.name.endswith(PARTIAL)):
                continue
            writer = entry.name.removeprefix(stem).partition(".")[0]
            if writer.isdigit() and not _runs(int(writer)):
                with suppress(OSError):
                    remove = shutil.rmtree if entry.is_dir(follow_symlinks=False) else os.unlink
                    remove(entry)


def _runs(process: int) -> bool:
    if os.name != "posix":
        return False  # a file that is still open cannot be removed there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _rescued(path: Path, content: bytes, error: OSError) -> OutputError:
    """What to raise after keeping `content` in the first other place that takes it."""
    why = error.strerror or str(error)
    for folder in (path.absolute().parent, Path.cwd(), Path(tempfile.gettempdir())):
        other = folder / f"{path.stem}-kept-{secrets.token_hex(4)}{path.suffix}"
        try:
            _write(other, content)
        except OSError:
            continue
        return OutputError(
            f'"{path}" could not be written ({why}); the result is in "{other}": move it.'
        )
    return OutputError(f'"{path}" could not be written ({why}), and no other place took it.')
