"""Worker processes: what is said when one dies, who ends them, and who compiles first."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import dgd
from dgd.many import compiling_once as once
from dgd.many import worker_process
from dgd.many.compiling_once import compiling_once
from dgd.many.jobs import Job
from dgd.many.shared_folder import Roll, opened_roll
from support.many_panels import ASKED, ENDLESS, LIGHT, panel

SECONDS = 120


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list["subprocess.Popen[bytes]"]:
    """Every worker process that is started, in their order."""
    found = []

    def start(*given: Any, **options: Any) -> "subprocess.Popen[bytes]":
        found.append(subprocess.Popen(*given, **options))
        return found[-1]

    monkeypatch.setattr(worker_process, "subprocess", _Subprocess(start))
    return found


class _Subprocess:
    """The module with another Popen."""

    def __init__(self, start: Any) -> None:
        self.Popen = start

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)


@pytest.mark.slow
def test_a_killed_process_loses_its_panel_alone(
    tmp_path: Path, started: list["subprocess.Popen[bytes]"]
) -> None:
    def kill() -> None:
        end = time.monotonic() + SECONDS
        while not started and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(started[0].pid, signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    many = dgd.fit_many(
        {"endless": panel(1), "quick": panel(2)},
        {"endless": ENDLESS, "quick": LIGHT},
        **ASKED,
        folder=tmp_path,
        processes=1,
    )
    killing.join()
    assert list(many) == ["quick"]
    assert many.failures == {
        "endless": "the process that fitted it was ended by SIGKILL, as systems do that run out of "
        "memory; run again, with fewer processes if need be."
    }
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)
    assert [file.name for file in tmp_path.iterdir()] == ["quick.dgd"]


@pytest.mark.slow
def test_an_interruption_ends_the_processes_and_keeps_what_is_finished(
    tmp_path: Path, started: list["subprocess.Popen[bytes]"]
) -> None:
    def press(name: str, *_: object) -> None:
        assert name == "quick"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dgd.fit_many(
            {"endless": panel(1), "quick": panel(2)},
            {"endless": ENDLESS, "quick": LIGHT},
            **ASKED,
            folder=tmp_path,
            processes=2,
            progress=press,
        )
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)
    assert [file.name for file in tmp_path.iterdir()] == ["quick.dgd"]


@pytest.mark.slow
def test_a_process_ends_when_nobody_asks_any_more() -> None:
    worker = worker_process.WorkerProcess()
    process = worker._running()
    assert process is not None
    try:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(SECONDS) == 0
    finally:
        worker.end()
    assert worker._running() is None, "nothing is begun after the end"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DGD_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("programs")
def test_others_wait_for_the_first_of_a_program_and_no_longer() -> None:
    order: list[str] = []
    inside, go_on = threading.Event(), threading.Event()

    def first() -> None:
        with compiling_once("same"):
            inside.set()
            assert go_on.wait(SECONDS)
            order.append("first")

    def second() -> None:
        with compiling_once("same"):
            order.append("second")

    leading = threading.Thread(target=first)
    leading.start()
    assert inside.wait(SECONDS)
    waiting = threading.Thread(target=second)
    waiting.start()
    with compiling_once("another"):
        order.append("another")
    go_on.set()
    leading.join(SECONDS)
    waiting.join(SECONDS)
    assert order == ["another", "first", "second"]
    with compiling_once("same"), compiling_once("same"):
        order.append("side by side")


def test_one_that_fails_leaves_the_first_place_to_the_next(programs: Path) -> None:
    with pytest.raises(OSError, match="no luck"), compiling_once("same"):
        raise OSError("no luck")
    assert not list(programs.glob(f"*{once.MARK}"))
    with compiling_once("same"):
        pass
    assert [file.name for file in programs.iterdir()] == [f"same{once.MARK}"]


@pytest.mark.parametrize("cache", ["off", "/dev/null/nowhere"])
def test_without_a_folder_nobody_waits(cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DGD_CACHE", cache)
    with compiling_once("same"), compiling_once("same"):
        pass


def test_a_machine_that_does_not_see_the_folder_says_so(tmp_path: Path) -> None:
    days = {"train_end": "2024-01-14", "validation_end": "2024-01-21", "warmup_end": None}
    job = Job("a", panel(1), LIGHT.as_dict(), days, (1,), tmp_path / "a.dgd")
    outcome = Roll(tmp_path / ".run-elsewhere").settle(0, job)
    assert outcome.state == "failed"
    assert outcome.failure is not None
    assert f'does not see folder "{tmp_path}"' in outcome.failure
    assert not list(tmp_path.iterdir())


def test_rolls_of_killed_calls_are_cleared(tmp_path: Path) -> None:
    old, new = tmp_path / ".run-old", tmp_path / ".run-new"
    for folder in (old, new):
        folder.mkdir()
    os.utime(old, (0, 0))
    with opened_roll(tmp_path) as roll:
        assert {path.name for path in tmp_path.iterdir()} == {".run-new", roll.folder.name}
    assert list(tmp_path.iterdir()) == [new]
