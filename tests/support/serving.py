"""The app as a process of its own, and what it leaves behind."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SECONDS = 60
RUN = "from dgd.cli import main; main()"


@dataclass(frozen=True)
class Served:
    """A running app."""

    process: subprocess.Popen[str]
    address: str
    temporary: Path
    """Where it makes its folders."""

    @property
    def host(self) -> str:
        return self.address.split("/")[2]

    @property
    def root(self) -> str:
        """The address of the first page."""
        return "/".join(self.address.split("/")[:4]) + "/"

    @property
    def folders(self) -> list[Path]:
        """The folders of fits under way."""
        return list(self.temporary.glob("dgd-app-*/fit-*"))

    def end(self, number: int = signal.SIGINT) -> int:
        """Send it a signal; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


def started(folder: Path, temporary: Path, *arguments: object) -> subprocess.Popen[str]:
    """`dgd serve` in a folder, its scratch below `temporary`."""
    temporary.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-P", "-c", RUN, "serve", "--no-open", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary), "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def serving(folder: Path, temporary: Path, *arguments: object) -> Iterator[Served]:
    """The app, ended at the end of the block."""
    process = started(folder, temporary, *arguments)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found is not None, line + (process.stderr.read() if process.stderr else "")
        yield Served(process, found[0], temporary)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        if process.stderr is not None:
            process.stderr.close()


def children(process: int) -> list[int]:
    """Processes that were started by this one and still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found


def until(holds: Callable[[], object], what: str) -> None:
    """Wait for something that must come true."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, f"{what} did not happen in {SECONDS} s"
        time.sleep(0.05)
