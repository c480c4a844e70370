"""Every choice of a page has the numbers that the forecast itself gives."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.panel.pattern_counts import PatternCounts
from dgd.report.page import choices
from dgd.report.page.choices import ALL, Choices
from support.shaken import shaken
from support.untrained import untrained


@pytest.fixture(scope="module")
def forecast(drawn: dgd.Simulated) -> dgd.Forecast:
    fit = shaken(untrained(dgd.DGD(), drawn.panel))
    return fit.forecast(3, origin=drawn.panel.dates[36], levels=[50], paths=40)


def test_every_unit_cohort_and_margin_can_be_chosen(forecast: dgd.Forecast) -> None:
    found = Choices.of(forecast)
    panel = forecast.panel
    chosen = {(row["unit"], row["cohort"]) for row in found.totals.iter_rows(named=True)}
    assert chosen == {(u, c) for u in (ALL, *panel.units) for c in (ALL, *panel.cohorts)}
    assert found.left_out == 0


def test_days_are_those_of_the_forecast_and_of_the_counts(forecast: dgd.Forecast) -> None:
    panel, days = forecast.panel, Choices.of(forecast).days
    unit, cohort = panel.units[1], panel.cohorts[2]
    own = days.filter(
        (pl.col("unit") == unit) & (pl.col("cohort") == cohort) & (pl.col("series") == "like")
    )
    recorded = own["observed"].drop_nulls()
    assert recorded.to_list() == panel.behavior_counts[37 - len(recorded) : 37, 1, 2, 1].tolist()
    expected = own.drop_nulls("expected")
    cells = forecast.to_frame("polars").filter(
        (pl.col("unit") == unit) & (pl.col("cohort") == cohort)
    )
    assert np.allclose(expected["expected"], cells["like"])
    assert np.allclose(expected["low_50"], cells["like_low_50"])
    together = days.filter((pl.col("unit") == ALL) & (pl.col("cohort") == ALL))
    arrivals = together.filter(pl.col("series") == "arrivals")["expected"].drop_nulls()
    assert np.allclose(arrivals, forecast.arrivals.sum((1, 2)))


def test_totals_stand_beside_as_many_days_before(forecast: dgd.Forecast) -> None:
    row = Choices.of(forecast).totals.row(0, named=True)
    assert row["series"] == "arrivals"
    assert row["before"] == forecast.panel.arrivals[34:37].sum()
    assert row["expected"] == pytest.approx(forecast.arrivals.sum())


def test_of_too_many_units_the_busiest_stay(
    forecast: dgd.Forecast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choices, "MOST_ROWS", 1)
    counts = forecast.panel.patterns.copy()
    counts[:, 0] = 0
    quiet = replace(
        forecast, panel=replace(forecast.panel, counts=PatternCounts.of(counts)), ranges=None
    )
    found = Choices.of(quiet)
    assert found.units == (forecast.panel.units[1],)
    assert found.left_out == 1
    assert set(found.days["unit"]) == {ALL, forecast.panel.units[1]}
