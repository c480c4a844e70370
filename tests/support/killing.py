"""Processes that are killed while they work."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from dgd.files.atomic import PARTIAL

SECONDS = 120
READY = b"ready\n"

Moment: TypeAlias = Callable[[subprocess.Popen[bytes]], object]
"""Returns when the process is to be killed."""


def killed(program: str, *arguments: object, moment: Moment) -> bool:
    """Whether `program` was killed at a `moment` of its work, and not done before.

    The program says `ready` on standard output when its work begins.
    """
    running = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert running.stdout is not None
    with running.stdout:
        try:
            assert running.stdout.readline() == READY
            moment(running)
        finally:
            running.kill()
            running.wait(SECONDS)
    return running.returncode < 0


def after(seconds: float) -> Moment:
    """So many seconds after the work has begun."""
    return lambda _: time.sleep(seconds)


def at_neighbor(folder: Path, number: int) -> Moment:
    """When the `number`-th unfinished file shows in `folder`, or the process has ended."""

    def wait(running: subprocess.Popen[bytes]) -> None:
        seen: set[str] = set()
        end = time.monotonic() + SECONDS
        while len(seen) < number and running.poll() is None and time.monotonic() < end:
            seen |= set(neighbors(folder))

    return wait


def neighbors(folder: Path) -> list[str]:
    """Files in `folder` that have not yet taken their targets' places."""
    return [path.name for path in folder.iterdir() if path.name.endswith(PARTIAL)]
