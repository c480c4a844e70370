import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dgd.errors import InputError
from dgd.processes import launch
from dgd.processes.children import ended
from dgd.processes.watch import ENDED_WITH_ANOTHER
from support.members import ONE_FAILS, SECONDS, WAITS, end, member, runs, together, told_by_hand

SAYING = """
import os, signal, sys, time
from pathlib import Path
index = os.environ["DGD_PROCESS_INDEX"]
print(f"{index} of {os.environ['DGD_PROCESS_COUNT']} speaks", flush=True)
heard = Path(sys.argv[3])
if index == "0":
    heard.touch()
while not heard.exists():
    time.sleep(0.01)
if index == sys.argv[1]:
    os.kill(os.getpid(), signal.SIGKILL) if sys.argv[2] == "killed" else sys.exit(int(sys.argv[2]))
"""
LAUNCHING = """
import sys
from dgd.processes import launch
launch(sys.argv[1:], 2)
"""
WAY_OUT = (
    "the others were ended: its own output says more; with a checkpoint, --resume goes on from "
    "there"
)


def saying(folder: Path, index: int, how: str) -> list[str]:
    """Processes that say who they are; the one of that index ends as told after process 0 spoke."""
    return [sys.executable, "-c", SAYING, str(index), how, str(folder / "heard")]


@pytest.mark.parametrize(
    ("codes", "blamed", "code"),
    [
        ([0, 0], 0, 0),
        ([ENDED_WITH_ANOTHER, -9, -6], 1, 1),
        ([-6, 7], 1, 1),
        ([ENDED_WITH_ANOTHER, 2], 1, 2),
        ([2, 2], 0, 2),
        ([ENDED_WITH_ANOTHER, -6], 1, 1),
        ([0, 130], 1, 130),
    ],
)
def test_the_one_that_died_first_is_blamed(codes: list[int], blamed: int, code: int) -> None:
    found, how = ended(codes)
    assert (found, how.code) == (blamed, code)
    assert (how.sentence is None) == (code != 1), "dgd has said itself why it refused"


def test_only_process_0_is_heard_when_all_goes_well(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert launch(saying(tmp_path, 9, "0"), 3) == (0, None)
    assert capfd.readouterr().out == "0 of 3 speaks\n"


def test_a_killed_process_is_named_and_what_it_said_is_shown(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert launch(saying(tmp_path, 2, "killed"), 3) == (
        1,
        f"process 2 of 3 was killed by signal 9; {WAY_OUT}",
    )
    said = capfd.readouterr()
    assert (said.out, said.err) == ("0 of 3 speaks\n", "2 of 3 speaks\n")


def test_a_refusal_is_left_to_the_process_that_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert launch(saying(tmp_path, 1, "2"), 2) == (2, None)
    assert capfd.readouterr().err == "1 of 2 speaks\n"


def test_numbers_and_commands_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="processes is 0; give a number from 1"):
        launch(saying(tmp_path, 0, "0"), 0)
    with pytest.raises(InputError, match="command is empty; name a program"):
        launch([], 2)
    with pytest.raises(InputError, match=r'"/no/such" cannot be started \(No such file'):
        launch(["/no/such"], 2)


@pytest.mark.slow
@pytest.mark.parametrize("who", [0, 1])
def test_a_process_that_is_killed_at_work_ends_the_others(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], who: int
) -> None:
    how = launch(member(ONE_FAILS, tmp_path, "killed", who), 2)
    assert how == (1, f"process {who} of 2 was killed by signal 9; {WAY_OUT}")
    said = capfd.readouterr()
    assert "done" not in said.out
    assert "Traceback" not in said.out + said.err
    assert not any(runs(int(file.read_text())) for file in tmp_path.glob("[01]"))


@pytest.mark.slow
def test_without_a_launcher_all_name_the_process_that_died(tmp_path: Path) -> None:
    first, killed, last = together(member(ONE_FAILS, tmp_path, "killed", 1), 3, told_by_hand())
    assert killed[0] == -signal.SIGKILL
    for code, said in (first, last):
        assert code == ENDED_WITH_ANOTHER
        assert said == f"dgd: process 1 of 3 died without a word; {WAY_OUT}.\n"


@pytest.mark.slow
def test_without_a_launcher_all_hear_why_one_refused(tmp_path: Path) -> None:
    first, refused = together(member(ONE_FAILS, tmp_path, "refused", 1), 2, told_by_hand())
    assert refused[0] == 2
    assert refused[1].endswith("InputError: column x is missing; add it.\n")
    assert first == (
        ENDED_WITH_ANOTHER,
        f"dgd: process 1 of 2 failed (column x is missing; add it); {WAY_OUT}.\n",
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_the_one_that_launched_them(tmp_path: Path, number: int) -> None:
    command = [sys.executable, "-c", LAUNCHING, *member(WAITS, tmp_path)]
    parent = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ)
    files = [tmp_path / "0", tmp_path / "1"]
    try:
        wait_until(lambda: all(file.exists() and file.read_text() for file in files))
        children = [int(file.read_text()) for file in files]
        assert all(map(runs, children))
        parent.send_signal(number)
        parent.wait(SECONDS)
        wait_until(lambda: not any(map(runs, children)))
    finally:
        parent.kill()
        for file in files:
            if file.exists() and file.read_text():
                end(int(file.read_text()))


def wait_until(true: Callable[[], bool]) -> None:
    give_up = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.02)
