"""`dgd fit --checkpoint`, killed at any moment and resumed, writes the same model."""

import subprocess
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

import dgd
from dgd.cli.options import CheckpointOptions
from dgd.files.tensors import read_tensors
from dgd.learning.checkpoints import EVERY
from dgd.learning.course import Course
from dgd.tables.files import write_table
from support.killing import SECONDS, Moment, at_neighbor, killed, neighbors
from support.shell import assert_refused, done, run
from support.small_counts import panel_of

KILLS, EPOCHS = 3, 60
PANEL = panel_of(40)
LIGHT = {
    "dynamics": "none",
    "calendar": "none",
    "expected_weight": 0,
    "start": "warmup",
    "patience": 99,
}
FITTING = """
print("ready", flush=True)
from dgd.cli import main
main()
"""


@pytest.fixture
def call(tmp_path: Path) -> list[Any]:
    """`dgd fit` of two seeds that are quickly trained."""
    write_table(PANEL.to_frame("polars"), tmp_path / "counts.csv")
    settings = ["--epochs", EPOCHS, "--nodes", 3, "--components", 1]
    for name, value in LIGHT.items():
        settings += ["--set", f"{name}={value}"]
    ends = ["--train-end", PANEL.dates[27], "--validation-end", PANEL.dates[34]]
    given = ["--behaviors", "click,like", *ends, *settings, "--seeds", "1,2"]
    return ["fit", tmp_path / "counts.csv", *given]


def soon_after(folder: Path, writes: int, seconds: float) -> Moment:
    """Some time after so many files have begun to be written."""

    def wait(running: subprocess.Popen[bytes]) -> None:
        at_neighbor(folder, writes)(running)
        time.sleep(seconds)

    return wait


def epochs_in(file: Path) -> int:
    """How many epochs a checkpoint keeps, of all runs together; it must be whole."""
    tensors = read_tensors(file).tensors if file.exists() else {}
    return sum(int(value) for name, value in tensors.items() if name.endswith(".carry.epoch"))


@pytest.mark.slow
def test_a_fit_that_was_killed_goes_on_to_the_same_model(call: list[Any], tmp_path: Path) -> None:
    folder, chance = tmp_path / "kept", Random(5)
    folder.mkdir()
    file, model, whole = folder / "fit.checkpoint", tmp_path / "model.dgd", tmp_path / "whole.dgd"
    keeping = ["--checkpoint", file, "--every", 0, "--resume", "--output", model]
    before = 0
    for _ in range(KILLS):
        moment = soon_after(folder, chance.randint(4, 12), chance.uniform(0, 0.02))
        assert killed(FITTING, *call, *keeping, moment=moment)
        assert before <= epochs_in(file) <= 2 * (EPOCHS + 1), "nothing that was saved is lost"
        before = epochs_in(file)
        assert len(neighbors(folder)) <= 1, "the next writer clears what the one before left"
        assert not model.exists()
    assert before > 0
    assert not killed(FITTING, *call, *keeping, moment=lambda running: running.wait(SECONDS))
    assert not list(folder.iterdir()), "the model is written, so its checkpoint goes"
    done(*call, "--output", whole)
    ours, theirs = read_tensors(model), read_tensors(whole)
    assert ours.facts == theirs.facts
    assert ours.tensors.keys() == theirs.tensors.keys()
    for name, tensor in ours.tensors.items():
        assert tensor.tobytes() == theirs.tensors[name].tobytes(), name


def test_the_shell_refuses_in_its_own_words(
    call: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = Course.rest

    def rest(course: Course) -> None:
        saved(course)
        raise dgd.InputError("stopped.")

    file, model = tmp_path / "fit.checkpoint", tmp_path / "model.dgd"
    call += ["--output", model, "--json"]
    keeping = ["--checkpoint", file, "--every", 0]
    with monkeypatch.context() as patched:
        patched.setattr(Course, "rest", rest)
        assert_refused(run(*call, *keeping), "stopped")
    for more, words in (
        (keeping, "keeps this fit unfinished; go on with --resume, remove the file"),
        ([*keeping, "--resume", "--seeds", 1], "differs in seeds (1, 2 there, 1 here); ask for"),
        (["--resume"], "--resume needs the file to go on from; name it with --checkpoint FILE."),
        (["--every", -1], "--every is -1.0; give minutes"),
        (["--checkpoint", call[1]], "which it would replace"),
        (["--checkpoint", model], "is the model file to write; name another."),
    ):
        assert_refused(run(*call, *more), words)
    assert epochs_in(file) > 0
    assert not model.exists()


def test_the_shell_waits_as_long_as_the_library() -> None:
    assert CheckpointOptions().every == EVERY
