"""Scenarios side by side, and forecasts by unit and cohort: charts of the fit's own tables."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.report import (
    forecast_parts_chart,
    forecast_parts_table,
    kept_scenarios_chart,
    kept_scenarios_table,
    save_chart,
)
from dgd.scenarios import ScenarioComparison
from support.refusals import refused
from support.shaken import shaken
from support.untrained import untrained


@pytest.fixture(scope="module")
def fit(drawn: dgd.Simulated) -> dgd.Fit:
    return shaken(untrained(dgd.DGD(), drawn.panel, seeds=(1,)))


@pytest.fixture(scope="module")
def kept(fit: dgd.Fit) -> dict[str, ScenarioComparison]:
    """One with ranges, one without."""
    more, fewer = (dgd.Change("effort", "multiply", share) for share in (2.0, 0.5))
    return {
        "more": fit.scenario(more, 3, levels=[80, 95], paths=20),
        "series": fit.scenario(fewer, 3, levels=(), paths=0),
    }


def test_every_scenario_keeps_its_totals(kept: dict[str, ScenarioComparison]) -> None:
    table = kept_scenarios_table(kept)
    for name, comparison in kept.items():
        own = table.filter(pl.col("scenario") == name)
        totals = comparison.totals(kind="polars")
        assert np.allclose(own["changed"], totals["changed"])
        assert np.allclose(own["percent"], 100 * totals["difference"] / totals["baseline"])
    drawn = table.filter(pl.col("scenario") == "more")
    assert (drawn["low"] <= drawn["high"]).all()
    assert table.filter(pl.col("scenario") == "series")["low"].null_count() == 4


def test_nothing_kept_is_nothing_to_compare() -> None:
    with refused("no scenario is kept"):
        kept_scenarios_table({})


def test_parts_add_up_to_the_whole(fit: dgd.Fit) -> None:
    forecast = fit.forecast(3, origin=fit.panel.dates[-5])
    daily = forecast.totals(kind="polars").filter(pl.col("series") == "click")["expected"]
    for by, labels in (("unit", fit.panel.units), ("cohort", fit.panel.cohorts)):
        table = forecast_parts_table(forecast, by, "click")
        assert set(table["label"]) == set(labels)
        ahead = table.drop_nulls("expected")
        sums = ahead.group_by("date", maintain_order=True).agg(pl.col("expected").sum())
        assert np.allclose(sums.sort("date")["expected"], daily)
        counted = fit.panel.behavior_counts[: fit.panel.days - 4, ..., 0].sum((1, 2))
        seen = table.drop_nulls("observed").group_by("date").agg(pl.col("observed").sum())
        assert seen.sort("date")["observed"].to_list() == counted[-len(seen) :].tolist()


def test_parts_have_the_narrowest_range(fit: dgd.Fit) -> None:
    forecast = fit.forecast(2, origin=fit.panel.dates[-5], levels=[50, 80], paths=50)
    table = forecast_parts_table(forecast, "cohort").drop_nulls("expected")
    by = ["date", "cohort", "behavior"]
    own = forecast.totals(by, kind="polars").filter(pl.col("series") == "arrivals")
    assert np.allclose(table["low"], own["low_50"])
    assert np.allclose(table["high"], own["high_50"])


def test_other_parts_are_refused(fit: dgd.Fit) -> None:
    forecast = fit.forecast(1, origin=fit.panel.dates[-5])
    with refused('by is "date"'):
        forecast_parts_table(forecast, "date")
    with refused('series "sales" is not counted', "arrivals, click, like, share"):
        forecast_parts_table(forecast, "unit", "sales")


def test_both_are_charts_people_can_open(
    fit: dgd.Fit, kept: dict[str, ScenarioComparison], tmp_path: Path
) -> None:
    forecast = fit.forecast(2, origin=fit.panel.dates[-5], levels=[80], paths=50)
    for chart in (kept_scenarios_chart(kept), forecast_parts_chart(forecast, "cohort", "like")):
        save_chart(chart, tmp_path / "chart.png")
        assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
