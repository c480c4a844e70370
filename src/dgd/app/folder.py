"""The folder that the app was started in: the only place from which it reads.

A browser names files by the words of the listing, and what is not listed is not opened.
Links that lead out of the folder are not listed.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dgd.errors import InputError

ENDINGS = (".csv", ".parquet", ".dgd")
DEEPEST = 3
"""Levels of folders that are looked through."""
MOST_FILES = 300
MOST_LOOKED_AT = 20_000
"""Entries of folders; the app may be started in a large one."""


@dataclass(frozen=True)
class Folder:
    """A folder and what dgd could open in it."""

    path: Path

    @staticmethod
    def here() -> "Folder":
        return Folder(_real(Path.cwd()))

    def listing(self) -> dict[str, Path]:
        """Tables and models by their names within the folder, the nearest first."""
        found = sorted(self._files(), key=lambda name: (name.count("/"), name.lower()))
        return {name: self.path / name for name in found[:MOST_FILES]}

    def file(self, name: str) -> Path:
        """The file of that name in the listing, as it stands now."""
        listed = self.listing()
        if name not in listed:
            raise InputError(
                f'file "{name}" is not among the tables and models of the folder; load the page '
                "again and choose one of those shown."
            )
        return _real(listed[name])

    def name_of(self, file: Path) -> str:
        """How the listing calls a file that was named when the app was started."""
        if not file.is_file():
            what = "is not a file" if file.exists() else "does not exist"
            raise InputError(f'file "{file}" {what}; check the path.')
        if file.suffix not in ENDINGS:
            raise InputError(f'file "{file}" is neither .csv, .parquet nor .dgd; name another.')
        whole = _real(file)
        if not self._holds(whole):
            raise InputError(
                f'file "{file}" is outside the folder the app is started in, and nothing else is '
                f'read; start it there: cd "{whole.parent}", then dgd serve "{whole.name}".'
            )
        name = whole.relative_to(self.path).as_posix()
        if name not in self.listing():
            raise InputError(
                f'file "{file}" is hidden or too deep below the folder the app is started in; '
                f'start it there: cd "{whole.parent}", then dgd serve "{whole.name}".'
            )
        return name

    def _files(self) -> Iterator[str]:
        """Names within the folder, level by level, until enough was looked at."""
        left = MOST_LOOKED_AT
        level = [self.path]
        for _ in range(DEEPEST + 1):
            entries = [entry for place in level for entry in _entries(place)][:left]
            left -= len(entries)
            level = [Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)]
            for entry in entries:
                file = Path(entry)
                if file.suffix in ENDINGS and file.is_file() and self._holds(_real(file)):
                    yield file.relative_to(self.path).as_posix()

    def _holds(self, whole: Path) -> bool:
        return whole.is_relative_to(self.path)


def _entries(place: Path) -> list[os.DirEntry[str]]:
    """What lies in a folder and is not hidden; nothing where it may not be looked into."""
    try:
        with os.scandir(place) as found:
            shown = [entry for entry in found if not entry.name.startswith(".")]
    except OSError:
        return []
    return sorted(shown, key=lambda entry: entry.name)


def _real(file: Path) -> Path:
    return Path(os.path.realpath(file))
