"""Copies of a command on this machine that work as one group, and end as one."""

import os
import sys
import time
from collections.abc import Sequence

from dgd.errors import InputError
from dgd.processes.children import THREADS, Ended, GroupChild, ended, told
from dgd.processes.watch import free_port

HOST = "127.0.0.1"
LOOK = 0.05
GRACE = 3.0
"""Seconds in which processes end by themselves after one has died; then they are killed."""


def launch(command: Sequence[str], processes: int) -> Ended:
    """Run `command` in several processes that join each other, and wait for them.

    What process 0 says is heard; what another says is shown where it is the one that failed.
    When one dies the others are ended, and all of them end with this process.

    Args:
        command: What each process runs, program first; it enters `joined()`.
        processes: How many, at least 1.

    Returns:
        Exit code and, where no process has said why it ended, a sentence.
    """
    checked(command, processes)
    address = f"{HOST}:{free_port(HOST)}"
    share = {} if THREADS in os.environ else {THREADS: str(max(_cores() // processes, 1))}
    children: list[GroupChild] = []
    try:
        for index in range(processes):
            environment = {**share, **told(index, processes, address, index)}
            children.append(GroupChild(command, environment, heard=index == 0))
        codes = _waited(children)
    finally:
        for child in children:
            child.end()
    blamed, how = ended(codes)
    if how.code != 0:
        sys.stderr.write(children[blamed].last_words())
        sys.stderr.flush()
    return how


def checked(command: Sequence[str], processes: int) -> None:
    """Refuse a number of processes or a command that cannot be right."""
    if processes < 1:
        raise InputError(f"processes is {processes}; give a number from 1.")
    if not command:
        raise InputError("command is empty; name a program and its arguments.")


def _waited(children: Sequence[GroupChild]) -> list[int]:
    """Exit codes, when all have ended or, after one died, the rest had time to."""
    end = None
    while True:
        codes = [child.process.poll() for child in children]
        if end is None and any(code not in (None, 0) for code in codes):
            end = time.monotonic() + GRACE
        late = end is not None and time.monotonic() > end
        if late or None not in codes:
            return [0 if code is None else code for code in codes]
        time.sleep(LOOK)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
