"""How much memory this machine has for a process."""

import os
from contextlib import suppress
from pathlib import Path

CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory() -> int | None:
    """Bytes of memory, or fewer where the process is in a container; None where nobody says."""
    found = []
    with suppress(AttributeError, OSError, ValueError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):
        found.append(int(CONTAINER_LIMIT.read_text()))
    return min(found, default=None)


def shown_bytes(number: float) -> str:
    """A number of bytes as people say it."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} PB"
