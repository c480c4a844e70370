"""A fit that was cut short goes on to the same numbers, bit by bit, or is refused in a sentence."""

import threading
from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import dgd
from dgd.files.tensors import read_tensors, write_tensors
from dgd.learning import loop
from dgd.learning.course import Course
from dgd.learning.fit_checkpoint import refuse_checkpoint
from dgd.learning.loop import _hand_out
from dgd.learning.runs import INTERRUPTED
from support.small_counts import panel_of

LIGHT = {
    "dynamics": "none",
    "calendar": "none",
    "expected_weight": 0.0,
    "components": 1,
    "nodes": 3,
    "innovations": "none",
    "epochs": 25,
    "patience": 25,
}
"""Two starts, and the least to compile: what is trained does not matter here."""
ATTEMPTS, EPOCHS = 4, 26
PANEL = panel_of(24)
ASKED = {
    "train_end": PANEL.dates[13],
    "validation_end": PANEL.dates[19],
    "seeds": [1, 2],
    "progress": False,
    "every": 0,
}
ARGUMENTS = signature(dgd.DGD.fit).parameters.keys()


class CutShort(Exception):
    """What ends a fit in the midst of it."""


class Cut:
    """A progress function that ends the fit when it is told for the last time of so many."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.lock = threading.Lock()

    def __call__(self, *_: object) -> None:
        with self.lock:
            self.left -= 1
            if self.left == 0:
                raise CutShort


def fitted(file: Path | None = None, panel: dgd.Panel = PANEL, **changes: Any) -> dgd.Fit:
    """A fit with anything changed by name, settings and arguments alike."""
    settings = {name: value for name, value in changes.items() if name not in ARGUMENTS}
    asked = {name: value for name, value in changes.items() if name in ARGUMENTS}
    return dgd.DGD(**{**LIGHT, **settings}).fit(panel, checkpoint=file, **{**ASKED, **asked})


def assert_same_runs(one: dgd.Fit, other: dgd.Fit) -> None:
    """All parameters and histories, to the last bit."""
    for ours, theirs in zip(one.runs, other.runs, strict=True):
        assert ours.facts == theirs.facts
        assert ours.tensors.keys() == theirs.tensors.keys()
        for name, value in ours.tensors.items():
            assert value.tobytes() == theirs.tensors[name].tobytes(), name


def epochs_of(file: Path) -> dict[str, int]:
    found = read_tensors(file)
    return {name: int(found.tensors[f"{name}/.carry.epoch"]) for name in found.facts["runs"]}


@pytest.fixture(scope="module")
def whole() -> dgd.Fit:
    """Never interrupted, and without a checkpoint."""
    return fitted()


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What a fit that was cut short has left behind."""
    file = tmp_path_factory.mktemp("left") / "fit.checkpoint"
    with pytest.raises(CutShort):
        fitted(file, progress=Cut(9))
    return file.read_bytes()


@pytest.fixture
def file(left: bytes, tmp_path: Path) -> Path:
    file = tmp_path / "fit.checkpoint"
    file.write_bytes(left)
    return file


def test_a_fit_that_was_cut_short_goes_on_to_the_same_bits(file: Path, whole: dgd.Fit) -> None:
    assert 0 < sum(epochs_of(file).values()) < ATTEMPTS * EPOCHS
    assert_same_runs(fitted(file, resume=True), whole)
    assert epochs_of(file) == {
        f"seed {seed} from {start}": EPOCHS for seed in (1, 2) for start in ("warmup", "training")
    }


def test_however_often_it_is_cut_short(tmp_path: Path, whole: dgd.Fit) -> None:
    file, before = tmp_path / "fit.checkpoint", 0
    for times in (3, 40):
        with pytest.raises(CutShort):
            fitted(file, resume=True, progress=Cut(times))
        assert sum(epochs_of(file).values()) > before, "every call goes on from the one before"
        before = sum(epochs_of(file).values())
    assert_same_runs(fitted(file, resume=True), whole)


@pytest.mark.parametrize("every", [0, 60])
def test_the_interval_does_not_change_the_numbers(
    every: float, tmp_path: Path, whole: dgd.Fit
) -> None:
    assert_same_runs(fitted(tmp_path / "fit.checkpoint", every=every), whole)


def test_a_finished_fit_is_not_trained_again(
    tmp_path: Path, whole: dgd.Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fit.checkpoint"
    fitted(file)
    before, told = file.read_bytes(), []

    def reached(*_: object) -> None:
        pytest.fail("an epoch was computed")

    monkeypatch.setattr(Course, "went", reached)
    again = fitted(file, resume=True, progress=lambda seed, done, _: told.append((seed, done)))
    assert_same_runs(again, whole)
    assert file.read_bytes() == before
    assert sorted(told) == [(1, 25), (1, 25), (2, 25), (2, 25)], "bars are full"


@pytest.mark.parametrize("resume", [True, False])
def test_the_next_fit_replaces_what_a_finished_one_left(tmp_path: Path, resume: bool) -> None:
    file = tmp_path / "fit.checkpoint"
    fitted(file, epochs=1)
    fitted(file, epochs=2, resume=resume)
    assert set(epochs_of(file).values()) == {3}


def test_a_fit_that_was_interrupted_and_kept_can_go_on(
    tmp_path: Path, whole: dgd.Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, began, stopped = tmp_path / "fit.checkpoint", threading.Event(), threading.Event()

    def ctrl_c(_: object) -> None:
        assert began.wait(60)
        raise KeyboardInterrupt

    def hand_out(*given: Any) -> None:
        """The second time, training has been told to stop."""
        if began.is_set():
            stopped.set()
        _hand_out(*given)

    def hold(*_: object) -> None:
        began.set()
        assert stopped.wait(60)

    with monkeypatch.context() as patched:
        patched.setattr(loop, "_wait", ctrl_c)
        patched.setattr(loop, "_hand_out", hand_out)
        halted = fitted(file, keep_on_interrupt=True, progress=hold, every=60)
    assert {each.reason for each in halted.runs} == {INTERRUPTED}
    assert 0 < sum(epochs_of(file).values()) < ATTEMPTS * EPOCHS, "saved when it was stopped"
    assert_same_runs(fitted(file, resume=True), whole)


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epochs": 26}, "epochs (25 there, 26 here)"),
        ({"seeds": [1]}, "seeds (1, 2 there, 1 here)"),
        ({"train_end": PANEL.dates[12]}, "train_end (2024-01-14 there, 2024-01-13 here)"),
        ({"warmup_end": PANEL.dates[3]}, "warmup_end (none there, 2024-01-04 here)"),
        ({"panel": panel_of(24, seed=2)}, "counts"),
        ({"panel": replace(PANEL, units=("north", "west"))}, "units"),
        ({"panel": replace(PANEL, effort=2 * PANEL.effort)}, "effort"),
    ],
    ids=["settings", "seeds", "training days", "warm-up", "counts", "units", "effort"],
)
def test_another_fit_is_refused_with_what_differs(
    changes: dict[str, Any], words: str, resume: bool, file: Path, left: bytes
) -> None:
    with pytest.raises(dgd.InputError) as refused:
        fitted(file, resume=resume, **changes)
    assert str(refused.value).endswith(
        f"keeps another unfinished fit, which differs in {words}; ask for that one again, remove "
        "the file, or name another."
    )
    assert file.read_bytes() == left


def test_an_unfinished_fit_is_not_begun_anew_unasked(file: Path, left: bytes) -> None:
    with pytest.raises(dgd.InputError, match="keeps this fit unfinished; go on with resume=True"):
        fitted(file)
    assert file.read_bytes() == left


def cut_in_half(content: bytes, file: Path) -> None:
    file.write_bytes(content[: len(content) // 2])


def one_bit_changed(content: bytes, file: Path) -> None:
    file.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])


def of_another_program(_: bytes, file: Path) -> None:
    file.write_text("date,unit,count\n")


def changed(change: Callable[[dict[str, Any], dict[str, Any]], object]) -> Callable[..., None]:
    """A file whose digest is right, but not what stands in it."""

    def damage(_: bytes, file: Path) -> None:
        holds, facts, tensors = read_tensors(file)
        change(facts, tensors)
        write_tensors(file, holds, facts, tensors)

    return damage


CARRY = "seed 1 from warmup/.carry"
DAMAGES = {
    "half": cut_in_half,
    "a bit": one_bit_changed,
    "a table": of_another_program,
    "no runs": changed(lambda facts, _: facts.pop("runs")),
    "runs are a list": changed(lambda facts, _: facts.update(runs=[1])),
    "belongs to nobody": changed(lambda facts, _: facts.update(belongs=None)),
    "no parameters": changed(lambda _, tensors: tensors.pop(f"{CARRY}.best")),
    "too few parameters": changed(
        lambda _, tensors: tensors.update({f"{CARRY}.best": tensors[f"{CARRY}.best"][1:]})
    ),
    "other numbers": changed(
        lambda _, tensors: tensors.update(
            {f"{CARRY}.best": tensors[f"{CARRY}.best"].astype("float32")}
        )
    ),
    "a status nobody knows": changed(
        lambda _, tensors: tensors.update({f"{CARRY}.status": tensors[f"{CARRY}.status"] + 9})
    ),
    "an epoch too many": changed(
        lambda _, tensors: tensors.update({f"{CARRY}.epoch": tensors[f"{CARRY}.epoch"] + 1})
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_checkpoint_is_refused(
    damage: Callable[[bytes, Path], None], file: Path, left: bytes
) -> None:
    damage(left, file)
    found = file.read_bytes()
    with pytest.raises(dgd.InputError, match="is no whole checkpoint of this dgd; name another"):
        fitted(file, resume=True)
    assert file.read_bytes() == found


def test_a_model_is_never_replaced_by_a_checkpoint(tmp_path: Path, whole: dgd.Fit) -> None:
    file = tmp_path / "model.dgd"
    whole.save(file)
    for resume in (True, False):
        with pytest.raises(dgd.InputError, match="holds a fit, which it would replace"):
            fitted(file, resume=resume)
    assert_same_runs(dgd.load(file), whole)


@pytest.mark.parametrize(
    ("checkpoint", "every", "resume", "words"),
    [
        (None, -1, False, "every is -1; give minutes between two checkpoints, like 5."),
        (None, float("nan"), False, "every is nan; give minutes between two checkpoints, like 5."),
        (None, "soon", False, "every is 'soon'; give minutes between two checkpoints, like 5."),
        (None, 5, "yes", "resume is 'yes'; give True to go on from a checkpoint, or False."),
        (
            None,
            5,
            True,
            'resume=True needs the file to go on from; name it with checkpoint="FILE".',
        ),
        (3, 5, True, "checkpoint is 3; give the path of a file."),
    ],
)
def test_what_names_no_file_time_or_choice_is_refused(
    checkpoint: object, every: object, resume: object, words: str
) -> None:
    with pytest.raises(dgd.InputError) as refused:
        refuse_checkpoint(checkpoint, every, resume)
    assert str(refused.value) == words


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"every": -1}, "every is -1; give minutes"),
        ({"resume": True}, "resume=True needs the file"),
        ({"checkpoint": "no/folder/file"}, "does not exist; make it first."),
        ({"checkpoint": "."}, "is a folder; name a file."),
    ],
)
def test_it_is_refused_before_any_work(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(dgd.InputError, match=words):
        dgd.DGD(**LIGHT).fit(PANEL, **{**ASKED, **asked})
