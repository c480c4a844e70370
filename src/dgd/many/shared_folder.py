"""The folder of results as other machines see it: the same one, or they say so.

While a call runs, its folder has a hidden one in which every finished job leaves its outcome. A
machine that does not see it would write models where nobody looks for them.
"""

import json
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dgd.errors import InputError, first_line
from dgd.files.atomic import write_atomically
from dgd.many.jobs import Job, Outcome
from dgd.many.worker_process import WorkerProcess

PREFIX, ENDING = ".run-", ".json"
FORGOTTEN_AFTER_SECONDS = 7 * 24 * 3600.0
"""Hidden folders that nothing was written to for so long belong to calls that were killed."""


@dataclass(frozen=True)
class Roll:
    """Where the jobs of one call sign off."""

    folder: Path

    def settle(self, number: int, job: Job) -> Outcome:
        """What a task on any machine does: settle the job of that number and sign off."""
        if not self.folder.is_dir():
            return Outcome.failed(
                job.name,
                f'machine {socket.gethostname()} does not see folder "{self.folder.parent}" of '
                "the machine that asks; name a folder that all of them share.",
            )
        outcome = _worker.settle(job)
        with suppress(OSError, InputError):  # the call may have ended meanwhile
            content = json.dumps(outcome.as_dict()).encode()
            write_atomically(self.folder / f"{number}{ENDING}", content)
        return outcome

    def signed(self) -> dict[int, Outcome]:
        """The outcomes so far, by the numbers of their jobs."""
        return {
            int(file.stem): Outcome.from_dict(json.loads(file.read_bytes()))
            for file in self.folder.glob(f"[0-9]*{ENDING}")
        }


@contextmanager
def opened_roll(folder: Path) -> Iterator[Roll]:
    """A roll in the folder of results, for as long as the call runs."""
    with suppress(OSError):
        for left in folder.glob(f"{PREFIX}*"):
            if time.time() - left.stat().st_mtime > FORGOTTEN_AFTER_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
    hidden = folder.absolute() / f"{PREFIX}{secrets.token_hex(8)}"
    hidden.mkdir()
    try:
        yield Roll(hidden)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def unsent(job: Job, error: Exception) -> Outcome:
    """Of a job that cannot leave this process."""
    return Outcome.failed(
        job.name,
        f"it cannot be sent to another machine ({type(error).__name__}: {first_line(error)}); "
        "hand over the panel itself, or a function that opens what it reads.",
    )


def cause_of(error: Exception) -> str:
    """What went wrong in a task, without the page that its engine puts around it."""
    raised = re.findall(r"^(\w+(?:Error|Exception): .+)$", str(error), re.MULTILINE)
    said = raised[-1].strip()[:200] if raised else first_line(error)
    missing = said.startswith("ModuleNotFoundError")
    return f"{said}; install it for the Python of the engine's tasks" if missing else said


_worker = WorkerProcess()
"""The one of this process; a task engine keeps its processes, and with them what is compiled."""
