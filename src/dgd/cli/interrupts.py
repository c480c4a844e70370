"""Ctrl-C in the shell: heard at once, and the process leaves without being taken apart.

JAX does not survive an exception that is raised while its compiler calls back into
Python, and Python cannot be shut down while XLA's threads compile: both may end in a
segmentation fault, or in an interruption that nobody hears. So inside JAX, where dgd
writes no files, the process leaves as it stands. Anywhere else `KeyboardInterrupt` is
raised as ever, and whatever cleans up after itself has its turn first.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from dgd.cli.console import err, out

INTERRUPTED = 130
COMPILERS = {"jax", "jaxlib", "equinox", "optax"}
"""Packages whose code may be called back by a compiler."""

_leaving = threading.RLock()


@contextmanager
def hearing_interrupts() -> Iterator[None]:
    """Listen to Ctrl-C while a command runs, also while the main thread compiles.

    Python tells the main thread of a signal only between two steps of its own, which a
    compiler may keep waiting for minutes. A second thread hears of it through a pipe.
    Nothing changes where Ctrl-C is ignored, or means something else already.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    heard, told = os.pipe()
    os.set_blocking(told, False)
    listener = threading.Thread(target=_listen, args=(heard,), name="dgd-ctrl-c", daemon=True)
    listener.start()
    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, _interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.set_wakeup_fd(before)
        os.close(told)
        listener.join()
        os.close(heard)


def leave() -> NoReturn:
    """Say that the command was interrupted and end the process, whatever its threads do."""
    with _leaving:
        with suppress(OSError, ValueError):
            err.show_cursor(True)
            err.print("dgd: interrupted; every file is whole or was not written.")
            out.file.flush()
            err.file.flush()
        os._exit(INTERRUPTED)


def _listen(heard: int) -> None:
    """Leave for the main thread where it is inside a compiler."""
    while signals := os.read(heard, 64):
        main = sys._current_frames().get(threading.main_thread().ident or 0)
        if signal.SIGINT in signals and in_compiler(main):
            leave()


def _interrupted(number: int, frame: FrameType | None) -> None:
    if in_compiler(frame):
        leave()
    signal.default_int_handler(number, frame)


def in_compiler(frame: FrameType | None) -> bool:
    """Whether `frame` was called, directly or not, by code that compiles."""
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in COMPILERS:
            return True
        frame = frame.f_back
    return False
