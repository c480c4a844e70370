"""Names of panels as names of files: safe on every system, and no two alike."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

ENDING = ".dgd"
SAFE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,78}[A-Za-z0-9_-])?")
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
"""What some systems take for a device."""
LONGEST = 40
"""How much of a name that is not safe is kept in front of its digest."""


def file_names(names: Sequence[str]) -> dict[str, str]:
    """A file name for every panel; those that differ only in what file systems may not tell
    apart carry a digest of the name."""
    plain = {name: name for name in names if SAFE.fullmatch(name) and not RESERVED.fullmatch(name)}
    chosen = {name: plain.get(name) or _digested(name) for name in names}
    times = Counter(file.casefold() for file in chosen.values())
    return {
        name: (file if times[file.casefold()] == 1 else _digested(name)) + ENDING
        for name, file in chosen.items()
    }


def _digested(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    readable = re.sub(r"[^A-Za-z0-9]+", "-", letters).strip("-")[:LONGEST]
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{readable}-{digest}" if readable else digest
