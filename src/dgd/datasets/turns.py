"""One at a time: a folder that several processes may want to fill, filled by one of them.

The lock belongs to the process that holds it and ends with it, however it ends.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

POLL_SECONDS = 0.1


@contextmanager
def turn_at(file: Path) -> Iterator[None]:
    """Wait until nobody else is inside a block with this lock file, which then goes away."""
    handle = _wait_for(file)
    try:
        yield
    finally:
        # Gone before it is released: whoever waits for it sees that and takes a new one.
        with suppress(OSError):
            file.unlink()
        os.close(handle)
        with suppress(OSError):  # where an open file cannot be deleted
            file.unlink()


def _wait_for(file: Path) -> int:
    """The lock file, opened and held by this process alone."""
    while True:
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            while not _held(handle):
                time.sleep(POLL_SECONDS)
            if _same(handle, file):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _held(handle: int) -> bool:
    """Take the lock if it is free."""
    try:
        import fcntl
    except ImportError:
        return _held_on_windows(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _held_on_windows(handle: int) -> bool:
    import msvcrt

    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True


def _same(handle: int, file: Path) -> bool:
    """Whether the file of that name is still the one that was opened."""
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except FileNotFoundError:
        return False
