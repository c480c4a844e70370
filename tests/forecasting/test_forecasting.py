"""Origins and horizons: what is known at an origin, and what a forecast says of the days ahead."""

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.panel.sequences import days_ahead
from dgd.runtime import computing

ORIGIN = 34


def test_many_origins_at_once_give_the_same_as_one_at_a_time(fit: dgd.Fit) -> None:
    origins = np.array([30, 33, 36])
    together = fit.predict(origins, 2)
    for index, origin in enumerate(origins):
        alone = fit.predict(np.array([origin]), 2)
        for name in ("arrivals", "patterns"):
            found, wanted = (getattr(one, name) for one in (together, alone))
            np.testing.assert_allclose(found[:, :, index], wanted[:, :, 0], rtol=1e-12)


def test_summaries_and_sizes_stay_while_calendar_and_effort_advance(fit: dgd.Fit) -> None:
    with computing():
        first, second = days_ahead(fit.panel, fit.features, np.array([30]), 2)
    np.testing.assert_array_equal(first.summaries, second.summaries)
    np.testing.assert_array_equal(first.size, second.size)
    assert not np.array_equal(first.season, second.season)
    np.testing.assert_array_equal(second.effort[0], fit.panel.effort[32])


def test_forecast_averages_seeds_so_that_counts_are_means(fit: dgd.Fit) -> None:
    forecast = fit.forecast(2, origin=fit.panel.dates[ORIGIN])
    predicted = fit.predict(np.array([ORIGIN]), 2)
    counts = predicted.behavior_counts[:, :, 0].mean(0)
    np.testing.assert_allclose(forecast.arrivals, predicted.arrivals[:, :, 0].mean(0), rtol=1e-13)
    np.testing.assert_allclose(forecast.behavior_counts, counts, rtol=1e-12)
    np.testing.assert_allclose(forecast.patterns.sum(-1), 1.0, atol=1e-12)


def test_frames_are_tidy_and_add_up(fit: dgd.Fit) -> None:
    forecast = fit.forecast(3, origin=fit.panel.dates[ORIGIN])
    table, patterns = forecast.to_frame("polars"), forecast.patterns_to_frame("polars")
    labels = ["date", "horizon", "unit", "cohort"]
    assert table.columns == [*labels, "arrivals", "click", "like", "share"]
    assert patterns.columns == [*labels, "click", "like", "share", "probability", "count"]
    assert table.height == 3 * 2 * 3
    assert patterns.height == table.height * 8
    assert patterns["count"].sum() == pytest.approx(table["arrivals"].sum())
    clicked = patterns.filter(patterns["click"] == 1)["count"].sum()
    assert clicked == pytest.approx(table["click"].sum())
    assert table["date"].min() == fit.panel.dates[ORIGIN + 1].item()


def test_a_payload_holds_the_rows_of_its_tables(fit: dgd.Fit) -> None:
    forecast = fit.forecast(2, origin=fit.panel.dates[ORIGIN])
    for patterns, table in ((False, forecast.to_frame()), (True, forecast.patterns_to_frame())):
        payload = forecast.payload(patterns=patterns)
        assert payload["origin"] == str(fit.panel.dates[ORIGIN])
        assert payload["rows"] == table.to_dicts()


def test_zero_effort_ahead_gives_no_arrivals(fit: dgd.Fit) -> None:
    panel = fit.panel
    dates = panel.period.range(panel.dates[-1], 3)[1:]
    plan = pl.DataFrame([panel.period.series("date", dates), pl.Series("effort", [0.0, 1.0])])
    forecast = fit.forecast(2, effort=plan)
    np.testing.assert_array_equal(forecast.arrivals[0], 0.0)
    assert (forecast.arrivals[1] > 0).all()
    np.testing.assert_allclose(forecast.patterns.sum(-1), 1.0, atol=1e-12)


def test_a_longer_panel_moves_the_origin(fit: dgd.Fit) -> None:
    shorter = fit.update(fit.panel.through(fit.panel.dates[ORIGIN]))
    assert shorter.panel.days == ORIGIN + 1
    here, there = (one.predict(np.array([ORIGIN]), 1) for one in (shorter, fit))
    np.testing.assert_allclose(here.arrivals, there.arrivals, rtol=1e-12)
    np.testing.assert_allclose(here.patterns, there.patterns, rtol=1e-12)
