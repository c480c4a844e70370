"""A command as one process of a group: told who it is, and gone when nobody waits for it.

Its standard input is a pipe that is held open for as long as it is wanted. When that ends, because
whoever started it was killed, the process ends as well (`joining.py`).
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, NamedTuple

from dgd.errors import InputError
from dgd.processes.membership import COORDINATOR, COUNT, INDEX, LAUNCHED, LOCAL_INDEX
from dgd.processes.watch import ENDED_WITH_ANOTHER, WAY_OUT

SPOKEN = (2, 3, 130)
"""Exit codes of a dgd that has said itself why it ended."""
SHOWN_LINES = 100
THREADS = "NPROC"
"""How many threads XLA takes, which would otherwise be one a core in every process."""


class Ended(NamedTuple):
    """How a group of processes ended."""

    code: int
    """What the command should exit with; 0 where all went well."""
    sentence: str | None = None
    """What to say where no process has said it; None where nothing is to be said."""


class GroupChild:
    """A process under way."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], heard: bool) -> None:
        """Start it; where it is not `heard`, what it says is kept for when it is needed."""
        self.said: IO[bytes] | None = None if heard else tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self.process = subprocess.Popen(
                command,
                env={**os.environ, **environment},
                stdin=subprocess.PIPE,
                stdout=self.said,
                stderr=None if heard else subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise InputError(
                f'"{command[0]}" cannot be started ({error.strerror}); name a command.'
            ) from error

    def last_words(self) -> str:
        """The end of what it said, where nobody heard it."""
        if self.said is None:
            return ""
        self.said.seek(0)
        lines = deque(self.said, maxlen=SHOWN_LINES)
        return b"".join(lines).decode(errors="replace")

    def end(self) -> None:
        """Kill the process and whatever it started."""
        if self.process.poll() is None:  # else its number may be another's by now
            with suppress(ProcessLookupError, PermissionError):
                if os.name == "posix":
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()


class EndedElsewhere(NamedTuple):
    """What became of a process that ran on a worker of a cluster."""

    code: int
    said: str


def run_elsewhere(
    command: Sequence[str], index: int, count: int, address: str, cores: int
) -> EndedElsewhere:
    """Run one process of a group on a worker of a cluster, to its end."""
    share = {} if THREADS in os.environ else {THREADS: str(cores)}
    child = GroupChild(command, {**share, **told(index, count, address)}, heard=False)
    try:
        code = child.process.wait()
    finally:
        child.end()
    return EndedElsewhere(code, child.last_words())


def reported(outcomes: Sequence[EndedElsewhere]) -> Ended:
    """Say what process 0 said, and what the one to blame did, and how the group ended."""
    blamed, how = ended([outcome.code for outcome in outcomes])
    sys.stdout.write(outcomes[0].said)
    sys.stdout.flush()
    if blamed != 0:
        sys.stderr.write(outcomes[blamed].said)
        sys.stderr.flush()
    return how


def told(index: int, count: int, address: str, local: int | None = None) -> dict[str, str]:
    """The environment that tells a process who it is."""
    who = {INDEX: str(index), COUNT: str(count), COORDINATOR: address, LAUNCHED: "1"}
    return who if local is None else {**who, LOCAL_INDEX: str(local)}


def ended(codes: Sequence[int]) -> tuple[int, Ended]:
    """Which process is to blame for the exit codes of a group, and how it ended.

    The others end because it did: by our own watch, or in an abort of JAX.
    """
    blamed = min(range(len(codes)), key=lambda index: (_blame(codes[index]), index))
    code = codes[blamed]
    if code in (0, *SPOKEN):
        return blamed, Ended(code)
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    others = "the others were ended"
    sentence = f"process {blamed} of {len(codes)} {how}; {others}: {WAY_OUT}"
    return blamed, Ended(1, sentence)


def _blame(code: int) -> int:
    if code == 0:
        return 4
    if code == ENDED_WITH_ANOTHER:
        return 3
    if code == -signal.SIGABRT:
        return 2
    return 0 if code < 0 else 1
