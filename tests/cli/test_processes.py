"""The `dgd` command as a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.shop import Shop

DAWN = "from signal import *; signal(SIGINT, default_int_handler); "
SHELL = [sys.executable, "-c", DAWN + "from dgd.cli import main; main()"]
"""Hears Ctrl-C whatever started us."""
SAID = b"dgd: interrupted; every file is whole or was not written."


def process(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [*SHELL, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_command_runs_as_a_process(tmp_path: Path) -> None:
    result = process("simulate", "--days", 3, "--output", tmp_path / "world", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["days"] == 3
    files = sorted(path.name for path in (tmp_path / "world").iterdir())
    assert files == ["counts.csv", "effort.csv", "sizes.csv", "truth.csv"]


def read_until(running: subprocess.Popen[bytes], word: bytes, seconds: float) -> bytes:
    """Standard error up to `word`; rich draws its bars there as for a terminal."""
    assert running.stderr is not None
    seen, end = b"", time.monotonic() + seconds
    while word not in seen:
        part = os.read(running.stderr.fileno(), 65536)
        assert part, f"the command ended too early: {seen.decode()}"
        assert time.monotonic() < end, f"no progress: {seen.decode()}"
        seen += part
    return seen


def assert_stopped(running: subprocess.Popen[bytes], out: bytes, err: bytes, folder: Path) -> None:
    """It ended as one that was interrupted does, said so, and left nothing in its folder."""
    assert running.returncode == 130, err.decode()
    assert SAID in err
    assert b"Traceback" not in err
    assert b"wrote" not in out
    assert list(folder.iterdir()) == []


def test_ctrl_c_leaves_the_shell_with_130_and_no_model(csv_shop: Shop, tmp_path: Path) -> None:
    """The program is that of the shared fit, which would go on for hours."""
    model = tmp_path / "model.dgd"
    slow = ["--seeds", "1", "--epochs", 100_000_000, "--set", "patience=100000000"]
    running = subprocess.Popen(
        [*SHELL, *map(str, csv_shop.fit(*slow, "--output", model))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"},
    )
    try:
        read_until(running, b"validation", seconds=120)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
    finally:
        running.kill()
    assert_stopped(running, out, err, tmp_path)


READY = """
from contextlib import contextmanager
from dgd.cli import commands, main

hearing = commands.hearing_interrupts

@contextmanager
def telling():
    with hearing():
        print("ready", flush=True)
        yield

commands.hearing_interrupts = telling
"""
"""Says when the command itself begins; before that Python is still loading."""

MOMENTS = 12
SECONDS = 3.0
"""So long after its beginning the last of the moments comes: tables are read, JAX is loaded
and compiles; where all is faster than this the fit is done, which is as good."""

AT_ONCE = {
    "where JAX calls back and drops what is raised": """
from dgd.learning import loop
flat_loss = loop._flat_loss

def called_back(*given):
    try:
        raise_signal(SIGINT)
    except KeyboardInterrupt:
        pass
    return flat_loss(*given)

loop._flat_loss = called_back
""",
    "where JAX does not return to Python for minutes": """
import os, threading
from hashlib import pbkdf2_hmac
from dgd.learning import loop

def busy(*given):
    threading.Timer(0.2, os.kill, (os.getpid(), SIGINT)).start()
    pbkdf2_hmac("sha256", b"", b"", 2 * 10**9)

loop._flat_loss = busy
""",
    "while the model is written": """
import os
os.fsync = lambda handle: raise_signal(SIGINT)
""",
}
"""What to change in the process so that it interrupts itself there."""


def fitting(shop: Shop, tmp_path: Path, before: str) -> subprocess.Popen[bytes]:
    """A fit that finds no compiled program, writing into a folder of its own."""
    (tmp_path / "output").mkdir(exist_ok=True)
    fit = shop.fit("--seeds", "1", "--epochs", 5, "--output", tmp_path / "output" / "model.dgd")
    return subprocess.Popen(
        [sys.executable, "-c", DAWN + before + "main()", *map(str, fit)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "DGD_CACHE": "off"},
    )


@pytest.mark.slow
def test_ctrl_c_at_any_moment_ends_in_130_and_leaves_nothing(
    csv_shop: Shop, tmp_path: Path
) -> None:
    for moment in range(MOMENTS):
        running = fitting(csv_shop, tmp_path, READY)
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == b"ready\n"
            time.sleep(SECONDS * moment / (MOMENTS - 1))
            running.send_signal(signal.SIGINT)
            _, err = running.communicate(timeout=120)
        finally:
            running.kill()
        assert running.returncode in (0, 130), (moment, err.decode())
        written = [path.name for path in (tmp_path / "output").iterdir()]
        assert written in ([], ["model.dgd"])
        if running.returncode == 130:
            assert SAID in err
            assert b"Traceback" not in err
        for path in (tmp_path / "output").iterdir():
            path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("where", AT_ONCE)
def test_ctrl_c_where_it_hurts_ends_in_130_and_leaves_nothing(
    csv_shop: Shop, tmp_path: Path, where: str
) -> None:
    running = fitting(csv_shop, tmp_path, "from dgd.cli import main" + AT_ONCE[where])
    try:
        out, err = running.communicate(timeout=240)
    finally:
        running.kill()
    assert_stopped(running, out, err, tmp_path / "output")
