"""Training over random blocks ends where exact training ends, and can be gone on with."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from dgd import DGD, Fit, Panel
from dgd.learning import large_panels
from dgd.learning.large_panels import LargePanel
from dgd.learning.preparing import prepared
from dgd.learning.runs import Run
from dgd.model.unit_parameters import UnitParameters
from dgd.runtime import computing
from support.refusals import refused
from support.sparse_panels import sparse_panel

CLOSE = 0.001
"""How far the validation objectives may be apart."""


def model(training: str, **changes: Any) -> DGD:
    plain = {"nodes": 3, "start": "training", "anchor": "none", "arrival_anchor": "none"}
    return DGD(**{**plain, "training": training, **changes})


def ends(panel: Panel) -> dict[str, Any]:
    days = {"warmup_end": 2, "train_end": 13, "validation_end": 18}
    return {name: panel.dates[day] for name, day in days.items()}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_panels, "BLOCK_NUMBERS", 400_000)


def test_thousands_of_units_are_trained_on_at_random_and_the_summary_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    panel = sparse_panel(80, rate=0.8)
    made = prepared(panel, model("auto"), *(ends(panel)[n] for n in ORDER))
    assert not LargePanel(model("auto"), *made).stochastic
    assert LargePanel(model("stochastic"), *made).stochastic
    monkeypatch.setattr(large_panels, "STOCHASTIC_UNITS", 80)
    assert LargePanel(model("auto"), *made).stochastic
    assert not LargePanel(model("exact"), *made).stochastic


def test_random_blocks_of_a_few_units_are_refused() -> None:
    panel = sparse_panel(12, rate=0.8)
    with refused('training is "stochastic"', "at least 30 units", "there are 12", "auto"):
        model("stochastic").fit(panel, **ends(panel), seeds=[1])


def test_exact_training_beyond_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dgd.learning.cost.memory", lambda: 1_000_000)
    panel = sparse_panel(60, rate=0.8)
    with refused("exact training on 16 days of 60 units and 3 cohorts", "1 MB", "random blocks"):
        model("exact").fit(panel, **ends(panel), seeds=[1])


ORDER = ("train_end", "validation_end", "warmup_end")


@pytest.mark.long
def test_random_blocks_end_where_exact_training_ends() -> None:
    panel = sparse_panel(1200, behaviors=2, rate=0.8)
    exact = model("exact").fit(panel, **ends(panel), seeds=[1])
    random = model("stochastic").fit(panel, **ends(panel), seeds=[1])
    assert exact.summary()["trained by"].item().startswith("all 1,200 units in blocks of")
    assert random.summary()["trained by"].item().startswith("random blocks of")
    assert whole_objective(exact) == pytest.approx(exact.runs[0].best_objective, abs=1e-10)
    assert whole_objective(random) < exact.runs[0].best_objective + CLOSE


def whole_objective(fit: Fit) -> float:
    """The validation objective of all units."""
    large = LargePanel(fit.settings, fit.panel, fit.split, fit.features)
    with computing():
        return large.exact_training.validated(fit.crowds[0])


def test_units_settle_alike_whomever_they_are_moved_with() -> None:
    panel = sparse_panel(40, behaviors=2, rate=0.8)
    made = prepared(panel, model("stochastic"), *(ends(panel)[n] for n in ORDER))
    large = LargePanel(model("stochastic"), *made)
    with computing():
        training, first = large.stochastic_training, large.first("training", 1)
        run = Run(1, "training", first, 0, 1.0, np.ones(1), np.ones(1), "all epochs done")
        surprise = large.exact_training.surprise(first)
        settled = [
            replace(training, blocks=replace(training.blocks, length=length)).settled(run, surprise)
            for length in (9, 40)
        ]
    one, other = (UnitParameters.of(found.parameters) for found in settled)
    for x, y in zip(one, other, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-11)
    assert np.abs(one.arrival - UnitParameters.of(first).arrival).max() > 1e-4


@pytest.mark.slow
def test_what_a_sample_learned_is_taken_to_all_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_panels, "SAMPLED", 30)
    panel = sparse_panel(80, behaviors=2, rate=0.8)
    fit = model("stochastic", epochs=10).fit(panel, **ends(panel), seeds=[1], progress=False)
    said = fit.summary()["trained by"].item()
    assert said == "random blocks of 30 of 30 units, validated on 30, for all 80"
    assert UnitParameters.of(fit.crowds[0]).arrival.shape == (80, 3)
    assert np.isfinite(whole_objective(fit))


@pytest.mark.slow
def test_a_run_goes_on_from_its_checkpoint_to_the_same_bits(tmp_path: Path) -> None:
    panel = sparse_panel(120, behaviors=2, rate=0.5)
    asked = {**ends(panel), "seeds": [1], "progress": False}
    short = model("stochastic", epochs=40)
    whole = short.fit(panel, **asked)

    class Killed(Exception):
        """As if the process had ended."""

    def kill(_seed: int, steps: int, _best: float) -> None:
        if steps >= 20:
            raise Killed

    kept: dict[str, Any] = {"checkpoint": tmp_path / "kept", "every": 0.0}
    with pytest.raises(Killed):
        short.fit(panel, **{**asked, "progress": kill}, **kept)
    again = short.fit(panel, **asked, **kept, resume=True)
    for one, other in zip(
        jax.tree.leaves(whole.runs[0].parameters),
        jax.tree.leaves(again.runs[0].parameters),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(
        whole.runs[0].validation_objective, again.runs[0].validation_objective
    )
