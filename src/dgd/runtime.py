"""JAX as dgd uses it: 64-bit numbers and a compilation cache, for dgd's own work only.

A user's JAX settings are the same after every call as before it. Compiled
programs are kept in the user's cache folder (`machine/kept.py`), so that the
second fit of a shape starts at once. A cache the user has set up for JAX is
used as it is.

A program in the folder is run only if it is, byte for byte, the one that was
written under its key: JAX itself would load whatever stands there, and a
damaged or exchanged program can take the process down. What is unsound is
dropped and compiled anew. Where there is no folder, or none that can be
written, dgd works without one.

Every compiled program takes a few of the areas of memory that Linux allows a process, and a process
that has used them up is ended. One that has fitted dozens of panels of different shapes therefore
forgets its programs in time; those it needs again come from the folder.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import jax
from jax.experimental.compilation_cache import compilation_cache

from dgd.machine.kept import KeptFiles, cache_folder

PROGRAM = ".program"
"""How the name of a compiled program ends."""
_CACHE_SETTINGS = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": 0,
}
MOST_AREAS = 0.4
"""Of the areas of memory a process may have, before its programs are forgotten."""
CLOSED_BETWEEN_LOOKS = 8


@contextmanager
def computing() -> Iterator[None]:
    """Everything dgd computes happens inside this block; blocks may nest and cross threads."""
    _cache.enter()
    try:
        with jax.enable_x64(True):
            yield
    finally:
        _cache.leave()


class _Cache:
    """JAX's compilation cache, on while at least one block is open."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open_blocks = 0
        self.closed = 0
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
            if not _use(KeptFiles(folder, PROGRAM)):
                self._apply(self.before)
                self.before = {}

    def leave(self) -> None:
        with self.lock:
            self.open_blocks -= 1
            if self.open_blocks:
                return
            if self.before:
                self._apply(self.before)
                self.before = {}
            self.closed += 1
            if self.closed % CLOSED_BETWEEN_LOOKS == 0 and areas_of_memory() > MOST_AREAS:
                jax.clear_caches()  # type: ignore[no-untyped-call]

    @staticmethod
    def _apply(settings: Mapping[str, object]) -> None:
        update: Callable[[str, object], None] = jax.config.update
        for name, value in settings.items():
            update(name, value)
        compilation_cache.reset_cache()


def areas_of_memory() -> float:
    """The share that this process has of the areas it may have; 0 where the system does not say."""
    try:
        most = int(Path("/proc/sys/vm/max_map_count").read_text())
        with Path("/proc/self/maps").open("rb") as areas:
            return sum(1 for _ in areas) / most
    except (OSError, ValueError):
        return 0.0


def _use(programs: KeptFiles) -> bool:
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
