"""Panels of one shape compile once a machine: the first compiles, the others wait for it.

Compiled programs are kept in the cache folder, but processes that start together would all find
it empty. So the first fit of a shape holds a lock in that folder until it is through and leaves
a mark; the lock of a process that dies is released by the system. Where there is no folder, or
no such locks, every process compiles for itself.
"""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import IO

from dgd.machine.kept import KeptFiles, cache_folder

MARK, LOCK = ".compiled", ".lock"


@contextmanager
def compiling_once(program: str) -> Iterator[None]:
    """Fits with the same `program` wait here until the first of them is through."""
    folder, locks = cache_folder(), _locks()
    if folder is None or locks is None:
        yield
        return
    marks = KeptFiles(folder, MARK)
    held = None if marks.get(program) is not None else _locked(locks, folder, program)
    if held is None:
        yield
        return
    with held:
        if marks.get(program) is None:
            yield
            marks.put(program, b"")
            with suppress(OSError):
                Path(held.name).unlink()
            return
    yield


def _locked(locks: ModuleType, folder: Path, program: str) -> IO[str] | None:
    """The lock's file once the lock is ours, or None where there can be none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / f"{program}{LOCK}").open("w")
    except (OSError, ValueError):
        return None
    try:
        locks.flock(file, locks.LOCK_EX)
    except OSError:
        file.close()
        return None
    return file


def _locks() -> ModuleType | None:
    try:
        return importlib.import_module("fcntl")
    except ImportError:
        return None
