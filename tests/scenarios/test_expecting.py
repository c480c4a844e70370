"""The planned future is the forecast; states of a changed one stay near what was seen."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import jax
import numpy as np
import polars as pl
import pytest

import dgd
from dgd.runtime import computing
from dgd.scenarios import Change, scenario
from dgd.scenarios.expecting import BEYOND, Expecting, bounded
from dgd.scenarios.future import Outlook
from dgd.scenarios.plan_worth import worth_of
from scenarios.known_crowds import proportional, tiring

Known = Callable[..., dgd.Fit]
TIRED = partial(tiring, effect=-2.0)


def test_states_are_held_within_their_range_and_a_quarter_more(known: Known) -> None:
    fit = known(TIRED, proportional)
    states = fit.states[0]
    with computing():
        crowd = bounded(fit.crowds[0], states, states)
    for name, path in states.carried.items():
        least, most = np.asarray(path).min(0), np.asarray(path).max(0)
        room = BEYOND * (most - least)
        np.testing.assert_allclose(crowd.low.carried[name][0], least - room)
        np.testing.assert_allclose(crowd.high.carried[name][0], most + room)


def test_no_effort_drives_them_further(known: Known) -> None:
    """A thousandfold effort for a month, and still nobody is more tired than the ends allow."""
    fit = known(TIRED, proportional)
    outlook = Outlook.of(fit, 28)
    expecting = Expecting.of(fit, outlook)
    wild = replace(outlook.planned, effort=1000 * outlook.planned.effort + 1000)
    walked = replace(expecting.walks(wild)[0].carried, innovations=None)
    crowd = expecting.crowds[0]

    def within(path: jax.Array, low: jax.Array, high: jax.Array) -> bool:
        later, least, most = (np.asarray(x) for x in (path, low, high))
        return bool(((later[1:] >= least - 1e-12) & (later[1:] <= most + 1e-12)).all())

    assert all(jax.tree.leaves(jax.tree.map(within, walked, crowd.low, crowd.high)))


@pytest.mark.parametrize("horizon", [5, 11])
def test_scenarios_and_plans_start_from_the_forecast(two_seeds: dgd.Fit, horizon: int) -> None:
    """With innovations as without."""
    weights = np.array([0.1, 1.0, -0.5])
    plain = two_seeds.with_crowds(
        [replace(crowd, innovations=None) for crowd in two_seeds.crowds], innovations="none"
    )
    for fit in (two_seeds, plain):
        outlook = Outlook.of(fit, horizon)
        forecast = fit.predict(np.array([outlook.day]), horizon, outlook.panel).averaged()
        arrivals, shown = forecast.arrivals[0, :, 0], forecast.behavior_counts[0, :, 0]
        expecting = Expecting.of(fit, outlook)
        found = scenario(fit, Change("effort", "multiply", 2.0), horizon, paths=0)
        for baseline in (found.baseline, expecting.planned_series()):
            np.testing.assert_allclose(baseline[..., 0], arrivals, rtol=1e-12)
            np.testing.assert_allclose(baseline[..., 1:], shown, rtol=1e-12)
        worth = worth_of(fit, expecting, horizon, weights, None, 0)(outlook.planned.effort)[0]
        total = np.concatenate([[arrivals.sum()], shown.sum((0, 1, 2))])
        np.testing.assert_allclose(worth, total @ weights, rtol=1e-12)


def test_a_plan_that_leaves_what_was_seen_is_still_the_forecast(known: Known) -> None:
    """Only what a change adds is held near what was seen."""
    fit = known(TIRED, proportional)
    dates = fit.panel.period.range(fit.panel.dates[-1], 22)[1:]
    effort = pl.DataFrame({"date": dates, "effort": np.full(21, 500.0)})
    outlook = Outlook.of(fit, 21, effort=effort)
    expecting = Expecting.of(fit, outlook)
    forecast = fit.forecast(21, effort=effort)
    np.testing.assert_allclose(expecting.planned_series()[..., 0], forecast.arrivals, rtol=1e-12)
    again = expecting.walks(outlook.planned)[0].prediction
    np.testing.assert_allclose(again.arrivals, expecting.planned[0].prediction.arrivals)
    fatigue = np.asarray(expecting.planned[0].carried.carried["fatigue"])
    seen = np.asarray(fit.states[0].carried["fatigue"])
    assert (fatigue[-1, 0] > seen.max(0) + BEYOND * np.ptp(seen, 0)).all()


def test_days_after_the_origin_hold_nothing(known: Known) -> None:
    """Ends are those of the days through the origin."""
    fit = known(TIRED, proportional)
    origin = fit.panel.dates[20]
    early = Expecting.of(fit, Outlook.of(fit, 3, origin=origin))
    cut = fit.update(fit.panel.through(origin))
    alone = Expecting.of(cut, Outlook.of(fit, 3, origin=origin))
    for ours, theirs in zip(
        jax.tree.leaves(early.crowds[0].high), jax.tree.leaves(alone.crowds[0].high), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
