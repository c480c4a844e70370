"""JAX as dgd uses it: 64-bit numbers and a compilation cache, for dgd's own work only.

A user's JAX settings are the same after every call as before it. Compiled
programs are kept in the user's cache folder, so that the second fit of a
shape starts at once; `DGD_CACHE` names another folder or is "off". A cache
the user has set up for JAX is used as it is.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jax
import platformdirs
from jax.experimental.compilation_cache import compilation_cache

_CACHE_SETTINGS = {
    "jax_persistent_cache_min_compile_time_secs": 0.2,
    "jax_persistent_cache_min_entry_size_bytes": 0,
}
_lock = threading.Lock()
_inside = 0
_before: dict[str, object] = {}


@contextmanager
def computing() -> Iterator[None]:
    """Everything dgd computes happens inside this block; blocks may nest and cross threads."""
    _enter_cache()
    try:
        with jax.enable_x64(True):
            yield
    finally:
        _leave_cache()


def cache_folder() -> Path | None:
    """Where compiled programs are kept, or None where they are not."""
    named = os.environ.get("DGD_CACHE", "")
    if named == "off":
        return None
    return Path(named) if named else Path(platformdirs.user_cache_dir("dgd")) / "compiled"


def _enter_cache() -> None:
    global _inside
    with _lock:
        _inside += 1
        folder = cache_folder()
        if _inside > 1 or folder is None or jax.config.jax_compilation_cache_dir is not None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return
        settings = {"jax_compilation_cache_dir": str(folder), **_CACHE_SETTINGS}
        _before.update({name: getattr(jax.config, name) for name in settings})
        for name, value in settings.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()


def _leave_cache() -> None:
    global _inside
    with _lock:
        _inside -= 1
        if _inside or not _before:
            return
        for name, value in _before.items():
            jax.config.update(name, value)
        _before.clear()
        compilation_cache.reset_cache()
