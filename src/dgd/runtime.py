"""JAX as dgd uses it: 64-bit numbers and a compilation cache, for dgd's own work only.

A user's JAX settings are the same after every call as before it. Compiled
programs are kept in the user's cache folder, so that the second fit of a
shape starts at once; `DGD_CACHE` names another folder or is "off". A cache
the user has set up for JAX is used as it is.

A program in the folder is run only if it is, byte for byte, the one that was
written under its key: JAX itself would load whatever stands there, and a
damaged or exchanged program can take the process down. What is unsound is
dropped and compiled anew. Where there is no folder, or none that can be
written, dgd works without one.
"""

import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import jax
import platformdirs
from jax.experimental.compilation_cache import compilation_cache

_CACHE_SETTINGS = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": 0,
}


@contextmanager
def computing() -> Iterator[None]:
    """Everything dgd computes happens inside this block; blocks may nest and cross threads."""
    _cache.enter()
    try:
        with jax.enable_x64(True):
            yield
    finally:
        _cache.leave()


def cache_folder() -> Path | None:
    """Where compiled programs are kept, or None where they are not."""
    named = os.environ.get("DGD_CACHE", "")
    if named == "off":
        return None
    try:
        return Path(named) if named else Path(platformdirs.user_cache_dir("dgd")) / "compiled"
    except (OSError, RuntimeError, KeyError):  # a user without a home
        return None


class CheckedPrograms:
    """A folder of compiled programs, each beside a digest of its key and itself.

    It does what JAX asks of a compilation cache, and never raises: a program that
    cannot be read is compiled, one that cannot be written is not kept.
    """

    ending = ".program"
    unfinished = ".unfinished-"
    forgotten_after_seconds = 3600.0
    """Unfinished files as old as this belong to a process that was killed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder
        """As JAX calls it in its log."""
        with suppress(OSError):
            for left in folder.glob(f"{self.unfinished}*"):
                with suppress(OSError):
                    if time.time() - left.stat().st_mtime > self.forgotten_after_seconds:
                        left.unlink()

    def get(self, key: str) -> bytes | None:
        """The program of `key`; an unsound one is deleted."""
        file = self._file(key)
        try:
            kept = file.read_bytes()
        except (OSError, ValueError):
            return None
        size = hashlib.sha256().digest_size
        digest, program = kept[:size], kept[size:]
        if digest == self._digest(key, program):
            return program
        with suppress(OSError):
            file.unlink()
        return None

    def put(self, key: str, value: bytes) -> None:
        """Keep the program of `key`, whole or not at all."""
        with suppress(OSError, ValueError):
            handle, name = tempfile.mkstemp(dir=self._path, prefix=self.unfinished)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(self._digest(key, value) + value)
                os.replace(name, self._file(key))
            except BaseException:
                os.unlink(name)
                raise

    def _file(self, key: str) -> Path:
        return self._path / f"{key}{self.ending}"

    @staticmethod
    def _digest(key: str, program: bytes) -> bytes:
        return hashlib.sha256(key.encode() + b"\0" + program).digest()


class _Cache:
    """JAX's compilation cache, on while at least one block is open."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open_blocks = 0
        self.before: dict[str, object] = {}

    def enter(self) -> None:
        with self.lock:
            self.open_blocks += 1
            folder = cache_folder()
            in_use = _setting("jax_compilation_cache_dir") is not None
            if self.open_blocks > 1 or folder is None or in_use:
                return
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except (OSError, ValueError):
                return
            settings = {"jax_compilation_cache_dir": str(folder), **_CACHE_SETTINGS}
            self.before = {name: _setting(name) for name in settings}
            self._apply(settings)
            if not _use(CheckedPrograms(folder)):
                self._apply(self.before)
                self.before = {}

    def leave(self) -> None:
        with self.lock:
            self.open_blocks -= 1
            if self.open_blocks == 0 and self.before:
                self._apply(self.before)
                self.before = {}

    @staticmethod
    def _apply(settings: Mapping[str, object]) -> None:
        update: Callable[[str, object], None] = jax.config.update
        for name, value in settings.items():
            update(name, value)
        compilation_cache.reset_cache()


def _use(programs: CheckedPrograms) -> bool:
    """Hand JAX its cache, and say whether it took it.

    JAX has no public place for a cache that checks what it reads. A JAX that keeps its
    cache elsewhere than this one goes without: slower, but never with a program unchecked.
    """
    from jax._src import compilation_cache as inside

    if not (hasattr(inside, "_cache") and hasattr(inside, "_cache_initialized")):
        return False
    inside._cache = programs  # type: ignore[assignment]
    inside._cache_initialized = True
    return True


def _setting(name: str) -> object:
    return getattr(jax.config, name)


_cache = _Cache()
