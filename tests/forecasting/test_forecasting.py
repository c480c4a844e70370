"""Origins and horizons, against a literal walk through the days."""

import jax.numpy as jnp
import numpy as np
import pytest

import dgd
from dgd.model.days import Inputs
from dgd.panel.sequences import days_ahead, recorded_days
from dgd.runtime import computing

ORIGIN, HORIZON = 34, 3


@pytest.fixture(scope="module")
def walked(fit):
    """Seed 1 day by day: recorded feedback up to the origin, expected feedback after it."""
    model, split, panel = fit.models[0], fit.split, fit.panel
    with computing():
        inputs, outcomes = recorded_days(panel, fit.features, split.first, panel.days, 50.0)
        state = model.initial_state()
        for t in range(ORIGIN + 1 - split.first):
            today, recorded = inputs.between(t, t + 1), outcomes.between(t, t + 1)
            prediction = model.predict(state, today)
            state = model.advance(state, today, prediction, recorded.arrivals, recorded.behaviors)
        at_origin = ORIGIN + 1 - split.first
        path = []
        for step in range(HORIZON):
            day = at_origin + step
            frozen = Inputs(
                inputs.calendar[day : day + 1],
                inputs.summaries[at_origin : at_origin + 1],
                inputs.size[at_origin : at_origin + 1],
                inputs.effort[day : day + 1],
            )
            prediction = model.predict(state, frozen)
            path.append(prediction)
            state = model.advance(
                state, frozen, prediction, prediction.arrivals, prediction.behaviors
            )
        return [(np.asarray(p.arrivals[0]), np.moveaxis(p.patterns[:, 0], 0, -1)) for p in path]


def test_forecast_is_the_literal_walk(fit, walked):
    arrivals, patterns = fit.predict(np.array([ORIGIN]), HORIZON)
    for step, (expected_arrivals, expected_patterns) in enumerate(walked):
        np.testing.assert_allclose(arrivals[0, step, 0], expected_arrivals, rtol=1e-11)
        np.testing.assert_allclose(patterns[0, step, 0], expected_patterns, rtol=1e-10)


def test_many_origins_at_once_give_the_same_as_one_at_a_time(fit):
    origins = np.array([30, 33, 36])
    together = fit.predict(origins, 2)
    for place, origin in enumerate(origins):
        alone = fit.predict(np.array([origin]), 2)
        np.testing.assert_allclose(together[0][:, :, place], alone[0][:, :, 0], rtol=1e-12)
        np.testing.assert_allclose(together[1][:, :, place], alone[1][:, :, 0], rtol=1e-12)


def test_summaries_and_sizes_stay_while_calendar_and_effort_advance(fit):
    with computing():
        first, second = days_ahead(fit.panel, fit.features, np.array([30]), 2)
    np.testing.assert_array_equal(first.summaries, second.summaries)
    np.testing.assert_array_equal(first.size, second.size)
    assert not np.array_equal(first.calendar, second.calendar)
    np.testing.assert_array_equal(second.effort[0], fit.panel.effort[32])


def test_forecast_averages_seeds_so_that_counts_are_means(fit):
    forecast = fit.forecast(2, origin=fit.panel.dates[ORIGIN])
    arrivals, patterns = fit.predict(np.array([ORIGIN]), 2)
    with computing():
        bits = jnp.asarray(dgd.model.patterns.behavior_bits(3))
    counts = arrivals[..., None] * (patterns @ np.asarray(bits))
    np.testing.assert_allclose(forecast.arrivals, arrivals[:, :, 0].mean(0), rtol=1e-13)
    np.testing.assert_allclose(forecast.behavior_counts, counts[:, :, 0].mean(0), rtol=1e-12)
    np.testing.assert_allclose(forecast.patterns.sum(-1), 1.0, atol=1e-12)


def test_frames_are_tidy_and_add_up(fit):
    forecast = fit.forecast(3, origin=fit.panel.dates[ORIGIN])
    table, patterns = forecast.to_frame("polars"), forecast.patterns_to_frame("polars")
    assert table.columns == [
        "date",
        "horizon",
        "unit",
        "cohort",
        "arrivals",
        "click",
        "like",
        "share",
    ]
    assert table.height == 3 * 2 * 3
    assert patterns.height == table.height * 8
    assert patterns["count"].sum() == pytest.approx(table["arrivals"].sum())
    clicked = patterns.filter(patterns["click"] == 1)["count"].sum()
    assert clicked == pytest.approx(table["click"].sum())
    assert table["date"].min() == fit.panel.dates[ORIGIN + 1].item()


def test_zero_effort_ahead_gives_no_arrivals(fit):
    import polars as pl

    panel = fit.panel
    dates = panel.period.range(panel.dates[-1], 3)[1:]
    plan = pl.DataFrame([panel.period.series("date", dates), pl.Series("effort", [0.0, 1.0])])
    forecast = fit.forecast(2, effort=plan)
    np.testing.assert_array_equal(forecast.arrivals[0], 0.0)
    assert (forecast.arrivals[1] > 0).all()
    np.testing.assert_allclose(forecast.patterns.sum(-1), 1.0, atol=1e-12)


def test_a_longer_panel_moves_the_origin(fit, drawn):
    shorter = fit.with_panel(fit.panel.through(fit.panel.dates[ORIGIN]))
    plan = drawn.panel.effort[ORIGIN + 1 :, 0, 0]
    assert shorter.panel.days == ORIGIN + 1
    here = shorter.predict(np.array([ORIGIN]), 1)
    there = fit.predict(np.array([ORIGIN]), 1)
    assert len(plan) > 0
    np.testing.assert_allclose(here[0], there[0], rtol=1e-12)
    np.testing.assert_allclose(here[1], there[1], rtol=1e-12)
