"""JAX as dgd uses it: 64-bit numbers and a compilation cache, for dgd's own work only.

A user's JAX settings are the same after every call as before it. Compiled
programs are kept in the user's cache folder, so that the second fit of a
shape starts at once; `DGD_CACHE` names another folder or is "off". A cache
the user has set up for JAX is used as it is.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
    return Path(named) if named else Path(platformdirs.user_cache_dir("dgd")) / "compiled"


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
            except OSError:
                return
            settings = {"jax_compilation_cache_dir": str(folder), **_CACHE_SETTINGS}
            self.before = {name: _setting(name) for name in settings}
            self._apply(settings)

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


def _setting(name: str) -> object:
    return getattr(jax.config, name)


_cache = _Cache()
