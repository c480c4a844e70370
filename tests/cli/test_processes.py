"""The `dgd` command as a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from support.shop import Shop

DAWN = "from signal import *; signal(SIGINT, default_int_handler); "
SHELL = [sys.executable, "-c", DAWN + "from dgd.cli import main; main()"]
"""Hears Ctrl-C whatever started us."""


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
    assert running.returncode == 130, err.decode()
    assert b"interrupted; no result was written" in err
    assert b"Traceback" not in err
    assert b"wrote" not in out
    assert list(tmp_path.iterdir()) == []
