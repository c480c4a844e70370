"""The file behind checkpoints, for any loop whose state is a tree of arrays."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dgd
from dgd.files import atomic
from dgd.files.tensors import read_tensors
from dgd.learning import checkpoints, course
from dgd.learning.belonging import Belonging
from dgd.learning.checkpoints import Checkpoint
from dgd.learning.course import Carry, Course
from dgd.runtime import computing

OURS = Belonging({"counts": "abc"}, {"epochs": 45, "seeds": [1, 2]})


class Clock:
    """A time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (checkpoints, course):
        monkeypatch.setattr(module, "monotonic", clock)
    return clock


def state(step: int) -> dict[str, Any]:
    """Arrays of both kinds, of no numbers, of any length and with numbers that are not finite."""
    return {
        "step": np.array(step),
        "moments": (jnp.asarray([0.1, -0.0, jnp.nan]), np.arange(6.0).reshape(2, 3) / (step + 1)),
        "nothing": np.zeros((4, 0)),
        "objectives": np.arange(float(step)),
    }


def assert_same(one: Any, other: Any) -> None:
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for ours, theirs in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert isinstance(ours, jax.Array) == isinstance(theirs, jax.Array)
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()


def test_a_tree_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    with computing():
        first = Checkpoint(tmp_path / "file", OURS)
        first.save("one", state(3), {"noted": "x"})
        first.save("other", state(7))
        again = Checkpoint(tmp_path / "file", OURS, resume=True)
        tree, facts = again.restored("one", state(0)) or (None, None)
        assert_same(tree, state(3))
        assert facts == {"noted": "x"}
        assert_same((again.restored("other", state(0)) or (None,))[0], state(7))
        assert again.restored("a third", state(0)) is None


def test_what_is_saved_does_not_change_with_the_arrays(tmp_path: Path) -> None:
    """A loop may go on in the very same arrays, before and after they were restored."""
    going = {"numbers": np.ones(3)}
    first = Checkpoint(tmp_path / "file", OURS)
    first.save("one", going)
    going["numbers"] += 1
    first.save("other", going)
    again = Checkpoint(tmp_path / "file", OURS, resume=True)
    tree, _ = again.restored("one", going) or ({}, {})
    tree["numbers"] += 1
    again.save("other", going)
    kept = read_tensors(tmp_path / "file").tensors
    assert [kept[f"{name}/['numbers']"].tolist() for name in ("one", "other")] == [[1] * 3, [2] * 3]


def test_a_run_is_due_when_its_interval_would_be_over(tmp_path: Path, clock: Clock) -> None:
    kept = Checkpoint(tmp_path / "file", OURS, every=5)
    assert not kept.due("one")
    clock.now += 299
    assert not kept.due("one")
    assert kept.due("one", ahead=1)
    clock.now += 1
    assert kept.due("one")
    kept.save("one", state(1))
    assert not kept.due("one")
    assert kept.due("other"), "each run has a time of its own"


def carry_at(epoch: int) -> Carry:
    some = jnp.zeros(2)
    return Carry(
        parameters=some,
        moments=some,
        best=some,
        best_objective=jnp.asarray(0.0),
        best_epoch=jnp.asarray(0),
        epoch=jnp.asarray(epoch),
        status=jnp.asarray(0),
    )


@pytest.mark.parametrize(
    ("seconds", "most"), [(0.001, 20), (5.0, 15), (1000.0, 1)], ids=["quick", "slow", "very slow"]
)
def test_slow_epochs_are_computed_a_few_at_a_time(
    seconds: float, most: int, tmp_path: Path, clock: Clock
) -> None:
    """So that no interval goes by while a checkpoint waits for the epochs under way."""
    with computing():
        saves, saved_at, losses = 0, clock.now, (jnp.zeros(20), jnp.zeros(20))
        made = Course("one", carry_at(0), Checkpoint(tmp_path / "file", OURS, every=5))
        for number in range(60):
            epochs = made.reach(10**9, 20) + 1 - made.epoch
            assert epochs == (1 if number == 0 else most)
            clock.now += epochs * seconds
            assert clock.now - saved_at <= max(300, seconds)
            made.went(carry_at(made.epoch + epochs), losses)
            saves += made.saved
            saved_at = clock.now if made.saved else saved_at
        assert len(made.standing.train_objective) == made.epoch
        assert saves > 0 or seconds == 0.001


def test_threads_share_a_checkpoint(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path / "file", OURS, every=0)

    def loop(number: int) -> None:
        for step in range(8):
            kept.save(f"run {number}", {"step": np.array(10 * number + step)}, {"step": step})

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(loop, range(6)))
    again = Checkpoint(tmp_path / "file", OURS, resume=True)
    for number in range(6):
        tree, facts = again.restored(f"run {number}", {"step": np.array(0)}) or ({}, {})
        assert (int(tree["step"]), facts) == (10 * number + 7, {"step": 7})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_processes_keep_files_of_their_own(tmp_path: Path) -> None:
    for rank in "01":
        Checkpoint(tmp_path / "fit.part", OURS, suffix=rank).save("one", {"x": np.ones(2)})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fit.part.0", "fit.part.1"]


def test_a_failing_disk_leaves_the_checkpoint_before_and_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Checkpoint(tmp_path / "file", OURS)
    kept.save("one", {"x": np.ones(2)})
    before = (tmp_path / "file").read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic.os, "replace", full)
    with pytest.raises(dgd.OutputError, match="could not be written"):
        kept.save("one", {"x": np.zeros(2)})
    kept.save("other", {"x": np.zeros(2)})
    assert (tmp_path / "file").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_differences_are_named_once_each() -> None:
    theirs = Belonging({"counts": "x", "units": "u"}, {"epochs": 9, "seeds": [1, 2], "mode": "a"})
    assert OURS.differences(OURS.facts) == []
    assert OURS.differences(theirs.facts) == [
        "counts",
        "units",
        "epochs (9 there, 45 here)",
        "mode (a there, none here)",
    ]
