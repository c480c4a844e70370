"""A process that fits one panel after another, and what is said when it dies."""

import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import IO, Any

from dgd.many import worker
from dgd.many.asks import ask_or_outcome
from dgd.many.jobs import Job, Outcome

PATIENCE = 10.0
"""Seconds in which a process that was killed is gone."""


class WorkerProcess:
    """A process of its own for fits: it lives as long as its work, so that panels of one shape
    share what it has compiled, and when it dies only the panel at hand is lost."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.ended = False
        self.lock = threading.Lock()

    def settle(self, job: Job, making: AbstractContextManager[Any] | None = None) -> Outcome:
        """Fit the panel of a job, or say why there is no fit.

        Args:
            making: Held while the panel is made, where several jobs are settled side by side.
        """
        began = time.monotonic()
        with making or nullcontext():
            found = ask_or_outcome(job)
        if not isinstance(found, Outcome):
            running = self._running()
            if running is None:
                return Outcome.failed(job.name, "interrupted before its fit began.")
            try:
                pickle.dump(found, _pipe(running.stdin), pickle.HIGHEST_PROTOCOL)
                _pipe(running.stdin).flush()
                found = pickle.load(_pipe(running.stdout))
            except (EOFError, OSError, ValueError, pickle.UnpicklingError):
                found = Outcome.failed(job.name, self._death(running))
        assert isinstance(found, Outcome)
        return replace(found, seconds=time.monotonic() - began)

    def end(self) -> None:
        """End the process, whatever it does; nothing is begun any more."""
        with self.lock:
            self.ended = True
            if self.process is not None:
                _gone(self.process)

    def _running(self) -> "subprocess.Popen[bytes] | None":
        with self.lock:
            if self.ended:
                return None
            if self.process is None or self.process.poll() is not None:
                if self.process is not None:
                    _gone(self.process)
                # -P: modules are never taken from a folder of data. Ctrl-C is not for the
                # process, which is ended by whoever started it.
                self.process = subprocess.Popen(
                    [sys.executable, "-P", "-m", worker.__name__],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                )
            return self.process

    def _death(self, process: "subprocess.Popen[bytes]") -> str:
        """How a process ended that has stopped answering, in a sentence."""
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        _gone(process)
        code = process.returncode
        if code is not None and code < 0:
            how = f"was ended by {_signal_name(-code)}"
            if -code == getattr(signal, "SIGKILL", 9):
                how += ", as systems do that run out of memory"
        else:
            how = f"ended with code {code}"
        return f"the process that fitted it {how}; run again, with fewer processes if need be."


def _gone(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError, ValueError):
                pipe.close()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
