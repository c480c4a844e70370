"""Fits that learn what effort is worth, from the first count to the forecast."""

from dataclasses import replace
from pathlib import Path

import equinox as eqx
import numpy as np
import polars as pl
import pytest

import dgd
from dgd.model.effort import Proportional
from dgd.runtime import computing
from support.effort_worlds import elastic_world, scattered_effort

DAYS = 77


def fitted(
    elasticity: float, seed: int, seeds: tuple[int, ...] = (1,), **changed: object
) -> dgd.Fit:
    effort = scattered_effort(DAYS, seed, scale=1000.0)
    world = elastic_world(elasticity, usual=1000.0)
    panel = dgd.simulate(_per_usual(world), DAYS, seed, effort=effort).panel
    dates = panel.dates
    model = dgd.DGD(**{"epochs": 40, "start": "training", **changed})
    return model.fit(panel, train_end=dates[62], validation_end=dates[69], seeds=list(seeds))


def _per_usual(world: dgd.World) -> dgd.World:
    """The same arrivals at an effort of a thousand as the example has at one."""
    with computing():
        baseline = world.crowd.reference.log_baseline - np.log(1000.0)
        crowd = eqx.tree_at(lambda c: c.reference.log_baseline, world.crowd, baseline)
    return replace(world, crowd=crowd)


@pytest.fixture(scope="module")
def noise() -> dgd.Fit:
    """Effort in thousands that nobody noticed."""
    return fitted(0.001, seed=4)


def planned(fit: dgd.Fit, effort: float) -> dgd.Forecast:
    panel = fit.panel
    dates = panel.period.range(panel.dates[-1], 8)[1:]
    return fit.forecast(7, effort=pl.DataFrame({"date": dates, "effort": np.full(7, effort)}))


def test_twice_the_effort_changes_little_where_effort_was_noise(noise: dgd.Fit) -> None:
    for fit in (noise,):
        once, twice = (planned(fit, effort).arrivals.sum() for effort in (1000.0, 2000.0))
        assert 0.98 <= twice / once < 1.15


def test_no_effort_reaches_nobody(noise: dgd.Fit) -> None:
    assert planned(noise, 0.0).arrivals.sum() == 0.0


def test_the_table_says_what_effort_is_worth_and_what_was_seen(noise: dgd.Fit) -> None:
    table = noise.effort_response("polars")
    effort = noise.panel.effort[noise.split.train]
    assert table.columns == [
        "cohort",
        "elasticity",
        "saturation",
        "usual",
        "least",
        "most",
        "learned",
    ]
    assert table["learned"].all()
    assert table["elasticity"].max() < 0.15
    np.testing.assert_allclose(table["usual"], effort.mean((0, 1)))
    np.testing.assert_allclose(table["least"], effort.min((0, 1)))
    np.testing.assert_allclose(table["most"], effort.max((0, 1)))


def test_a_fit_with_learned_effort_comes_back_bit_by_bit(noise: dgd.Fit, tmp_path: Path) -> None:
    noise.save(tmp_path / "fit.dgd")
    again = dgd.load(tmp_path / "fit.dgd")
    assert again.effort_response().equals(noise.effort_response())
    assert planned(again, 1500.0).arrivals.tobytes() == planned(noise, 1500.0).arrivals.tobytes()
    assert again.settings.effort_response == "learned"


def test_the_papers_preset_multiplies_arrivals_by_effort(drawn: dgd.Simulated) -> None:
    dates = drawn.panel.dates
    fit = dgd.DGD.paper(epochs=1).fit(
        drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=[1]
    )
    assert all(isinstance(crowd.effort, Proportional) for crowd in fit.crowds)
    table = fit.effort_response("polars")
    assert table["elasticity"].to_list() == [1.0, 1.0, 1.0]
    assert not table["learned"].any()


@pytest.mark.long
@pytest.mark.parametrize("elasticity", [0.001, 0.5, 0.999])
def test_training_finds_the_elasticity_of_a_world(elasticity: float) -> None:
    found = [
        fitted(elasticity, seed, seeds=(1, 2), epochs=200, start="best").effort_curve.elasticity
        for seed in (1, 2, 3)
    ]
    assert np.abs(np.mean(found) - elasticity) < 0.1
    assert np.abs(np.array(found) - elasticity).max() < 0.25
