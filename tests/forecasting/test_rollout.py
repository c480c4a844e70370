"""Paths of expectations: one program for every horizon, the literal walk, right gradients."""

import logging
from collections.abc import Sequence
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

import dgd
from dgd.forecasting.rollout import CHUNK, expected_days, expected_path
from dgd.model import Crowd, Inputs, Prediction, State
from dgd.model.unit_parameters import crowd_of_units
from dgd.panel.sequences import days_ahead, recorded_days
from dgd.panel.some_units import panel_of_units
from dgd.runtime import computing
from support.compiled import advanced, predicted

ORIGIN, LONGEST = 19, 20


@pytest.fixture(scope="module")
def walked(uncorrected: dgd.Fit) -> list[Prediction]:
    """Seed 1 day by day: recorded feedback up to the origin, expected feedback after it."""
    fit = uncorrected
    crowd, split, panel = fit.crowds[0], fit.split, fit.panel
    with computing():
        inputs, outcomes = recorded_days(
            panel, fit.features, split.first, panel.days, fit.settings.dispersion
        )
        state = crowd.at_rest()
        at_origin = ORIGIN + 1 - split.first
        for t in range(at_origin):
            today, recorded = inputs.between(t, t + 1), outcomes.between(t, t + 1)
            prediction = predicted(crowd, state, today)
            state = advanced(crowd, state, today, prediction, recorded)
        path = []
        left = inputs.between(at_origin, at_origin + 1)
        for step in range(LONGEST):
            day = inputs.between(at_origin + step, at_origin + step + 1)
            frozen = Inputs(day.calendar, left.summaries, left.size, day.effort, day.season)
            prediction = predicted(crowd, state, frozen)
            path.append(prediction)
            state = advanced(crowd, state, frozen, prediction, prediction)
    return path


@pytest.mark.parametrize("horizon", [1, 5, 9, 17])
def test_a_forecast_is_the_literal_walk(
    uncorrected: dgd.Fit, walked: list[Prediction], horizon: int
) -> None:
    found = uncorrected.predict(np.array([ORIGIN]), horizon)
    assert found.horizon == horizon
    for step, day in enumerate(walked[:horizon]):
        np.testing.assert_allclose(found.arrivals[0, step, 0], day.arrivals[0], rtol=1e-12)
        patterns = np.moveaxis(np.asarray(day.patterns[:, 0]), 0, -1)
        np.testing.assert_allclose(found.patterns[0, step, 0], patterns, rtol=1e-12)


def test_some_units_led_by_all_walk_as_all_do(fit: dgd.Fit) -> None:
    """A unit by itself would feed back what its cohorts alone do; led, it is one of all."""
    origins, unit, horizon = np.array([ORIGIN, ORIGIN + 3]), np.array([1]), CHUNK + 1
    crowd, panel = fit.crowds[0], fit.panel
    some = panel_of_units(panel, unit)
    with computing():
        whole = expected_days(
            crowd,
            fit.carried(0, origins),
            days_ahead(panel, fit.features, origins, horizon + 1),
        )
        led = [{n: x[s + 1] for n, x in whole.carried.carried.items()} for s in range(horizon)]
        known = (
            crowd_of_units(crowd, jnp.asarray(unit)),
            crowd.state_of_units(fit.carried(0, origins), unit),
            days_ahead(some, fit.features.of_units(unit), origins, horizon),
        )
        found, alone = expected_path(*known, led), expected_path(*known)
    wanted = whole.prediction
    np.testing.assert_allclose(found.arrivals, wanted.arrivals[:horizon, :, unit], rtol=1e-12)
    np.testing.assert_allclose(found.patterns, wanted.patterns[:horizon, :, :, unit], rtol=1e-12)
    assert not np.allclose(alone.patterns, found.patterns, rtol=1e-6)


def test_states_are_met_in_the_order_they_are_walked(fit: dgd.Fit) -> None:
    """What is carried into each day predicts it; asking for states changes no prediction."""
    origins = np.array([ORIGIN])
    with computing():
        ahead = days_ahead(fit.panel, fit.features, origins, CHUNK + 2)
        known = (fit.crowds[0], fit.carried(0, origins), ahead)
        days, path = expected_days(*known), expected_path(*known)
        last = jax.tree.map(lambda x: x[-1], days.carried)
        again = predicted(fit.crowds[0], last, ahead[-1])
    np.testing.assert_allclose(days.prediction.arrivals, path.arrivals, rtol=1e-13)
    np.testing.assert_allclose(again.arrivals, path.arrivals[-1], rtol=1e-12)
    np.testing.assert_allclose(again.patterns, path.patterns[-1], rtol=1e-12)


def heard(x: Array) -> Array:
    return x + 1


def test_a_new_horizon_needs_no_new_program(
    fit: dgd.Fit, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty days, in three chunks, run on the program of one day."""
    monkeypatch.setattr("dgd.runtime.areas_of_memory", lambda: 0.0)  # forget nothing meanwhile
    fit.predict(np.array([ORIGIN]), 1)
    with jax.log_compiles(), caplog.at_level(logging.WARNING):
        jax.jit(heard)(0.0)
        for horizon in (3, 8, 20):
            fit.predict(np.array([ORIGIN]), horizon)
    compiled = [r.getMessage() for r in caplog.records if "Compiling" in r.getMessage()]
    assert [message for message in compiled if "heard" in message], "compilations are told of"
    assert not [message for message in compiled if "_walk" in message]


def behaviors_with(effort: Array, crowd: Crowd, state: State, ahead: Sequence[Inputs]) -> Array:
    """The sum of all behaviours expected, with so much of each day's planned effort."""
    days = [
        replace(day, effort=day.effort * of_day) for day, of_day in zip(ahead, effort, strict=True)
    ]
    path = expected_path(crowd, state, days)
    return jax.vmap(lambda day: day.behaviors.sum())(path).sum()


SLOPES = eqx.filter_jit(jax.grad(behaviors_with))


def test_gradients_flow_through_every_chunk(fit: dgd.Fit) -> None:
    """Effort of each day ahead moves all behaviours after it, as central differences say."""
    horizon, apart = CHUNK + 2, 1e-5
    origins = np.array([ORIGIN])
    with computing():
        ahead = days_ahead(fit.panel, fit.features, origins, horizon)
        known = (fit.crowds[0], fit.carried(0, origins), ahead)
        once = np.ones(horizon)
        slopes = np.asarray(SLOPES(jnp.asarray(once), *known))
        differences = []
        for day in range(horizon):
            step = apart * np.eye(horizon)[day]
            up, down = (
                float(behaviors_with(jnp.asarray(once + way * step), *known)) for way in (1, -1)
            )
            differences.append((up - down) / (2 * apart))
    np.testing.assert_allclose(slopes, differences, rtol=1e-7)
    assert (np.abs(slopes) > 1e-3).all()
