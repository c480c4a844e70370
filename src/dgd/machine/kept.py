"""What took long to make and can be made again, kept in the user's cache folder.

`DGD_CACHE` names another folder or is "off". What is kept is given back only if it is, byte for
byte, what was written under its key; what is unsound is dropped. Nothing here raises: where there
is no folder, or none that can be read or written, everything is made anew.
"""

import hashlib
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import platformdirs


def cache_folder() -> Path | None:
    """Where things are kept, or None where they are not."""
    named = os.environ.get("DGD_CACHE", "")
    if named == "off":
        return None
    try:
        return Path(named) if named else Path(platformdirs.user_cache_dir("dgd")) / "compiled"
    except (OSError, RuntimeError, KeyError):  # a user without a home
        return None


_swept: set[Path] = set()
"""Folders in which this process has looked for unfinished files."""


class KeptFiles:
    """A folder of files, each led by a digest of its key and its content.

    What cannot be read is not there, and what cannot be written is not kept.
    """

    unfinished = ".unfinished-"
    forgotten_after_seconds = 3600.0
    """Unfinished files as old as this belong to a process that was killed."""

    def __init__(self, folder: Path, ending: str) -> None:
        self._path = folder
        """As JAX, which keeps its programs here, calls it in its log."""
        self.ending = ending
        if folder not in _swept:
            _swept.add(folder)
            self._sweep(folder)

    def _sweep(self, folder: Path) -> None:
        """Drop what killed processes left unfinished; once is enough for a process."""
        with suppress(OSError):
            for left in folder.glob(f"{self.unfinished}*"):
                with suppress(OSError):
                    if time.time() - left.stat().st_mtime > self.forgotten_after_seconds:
                        left.unlink()

    def get(self, key: str) -> bytes | None:
        """What is kept under `key`; what is unsound is deleted."""
        file = self._file(key)
        try:
            kept = file.read_bytes()
        except (OSError, ValueError):
            return None
        size = hashlib.sha256().digest_size
        digest, content = kept[:size], kept[size:]
        if digest == self._digest(key, content):
            return content
        with suppress(OSError):
            file.unlink()
        return None

    def put(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`, whole or not at all."""
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
    def _digest(key: str, content: bytes) -> bytes:
        return hashlib.sha256(key.encode() + b"\0" + content).digest()
