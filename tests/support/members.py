"""Programs that processes of a group run, and what became of them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dgd.processes.watch import free_port

SECONDS = 120
JOINING = """
import json, os, signal, sys, time
from pathlib import Path
import numpy as np
from dgd.processes import joined
folder = Path(sys.argv[1])
with joined() as group:
    group.sum(1)
    (folder / str(group.index)).write_text(str(os.getpid()))
"""
ONE_FAILS = """
    if group.index == int(sys.argv[3]):
        if sys.argv[2] == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if sys.argv[2] == "refused":
            from dgd.errors import InputError
            raise InputError("column x is missing; add it.")
    group.sum(1)
print("done", group.index)
"""
WAITS = """
    time.sleep(1000)
"""


def member(program: str, *arguments: object) -> list[str]:
    """The command line of a process that joins its group and goes on as `program` says."""
    return [sys.executable, "-c", JOINING + program, *map(str, arguments)]


def told_by_hand() -> Callable[[int, int], dict[str, str]]:
    """What a user's own script tells a process, by its number and how many there are."""
    address = f"127.0.0.1:{free_port('127.0.0.1')}"
    return lambda index, count: {
        "DGD_PROCESS_INDEX": str(index),
        "DGD_PROCESS_COUNT": str(count),
        "DGD_COORDINATOR": address,
    }


def together(
    command: list[str], count: int, told: Callable[[int, int], dict[str, str]]
) -> list[tuple[int, str]]:
    """Exit code and output of processes that nobody watches, as Slurm or Kubernetes start them."""
    running = [
        subprocess.Popen(
            command,
            env={**os.environ, **told(index, count)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for index in range(count)
    ]
    try:
        said = [process.communicate(timeout=SECONDS)[0] for process in running]
    finally:
        for process in running:
            process.kill()
    return [(process.returncode, words) for process, words in zip(running, said, strict=True)]


def written(folder: Path, count: int) -> list[Any]:
    """What each process wrote as JSON."""
    return [json.loads((folder / f"{index}.json").read_text()) for index in range(count)]


def runs(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        os.kill(process, 0)
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


def end(process: int) -> None:
    """Kill a process that a test started, if it is still there."""
    if runs(process):
        os.kill(process, signal.SIGKILL)
