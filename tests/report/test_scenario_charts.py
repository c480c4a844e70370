"""Charts of days ahead: what was counted before, what is expected, and what a change does to it."""

from collections.abc import Callable
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
import pytest

import dgd
from dgd.report import (
    forecast_chart,
    forecast_table,
    plan_chart,
    plan_table,
    save_chart,
    save_charts,
    scenario_causes_table,
    scenario_chart,
    scenario_table,
)
from dgd.scenarios import ScenarioComparison
from support.shaken import shaken
from support.untrained import untrained

MORE = dgd.Change("effort", "multiply", 2.0, cohorts="casual")
SERIES = ("arrivals", "click", "like", "share")


@pytest.fixture(scope="module")
def fit(drawn: dgd.Simulated) -> dgd.Fit:
    """Parameters moved at random from where training starts: charts show any fit."""
    return shaken(untrained(dgd.DGD(), drawn.panel, seeds=(1,)))


@pytest.fixture(scope="module")
def comparison(fit: dgd.Fit) -> ScenarioComparison:
    return fit.scenario(MORE, 3, levels=[80, 95], paths=20)


@pytest.fixture(scope="module")
def plan(fit: dgd.Fit) -> dgd.Plan:
    return fit.plan(12.0, "share", horizon=2, starts=2, after=0)


@pytest.fixture(scope="module")
def forecast(fit: dgd.Fit) -> dgd.Forecast:
    return fit.forecast(3, origin=fit.panel.dates[-5], levels=[50, 80], paths=50)


def test_observed_days_come_before_expected_ones(forecast: dgd.Forecast) -> None:
    table = forecast_table(forecast).filter(pl.col("series") == "arrivals")
    observed = table.filter(pl.col("part") == "observed")
    counted = forecast.panel.arrivals.sum((1, 2))
    assert observed["value"].to_list() == counted[-32:-4].tolist()
    assert observed["date"].max() == forecast.origin.item()
    expected = table.filter(pl.col("part") == "expected")
    assert np.allclose(expected["value"], forecast.arrivals.sum((1, 2)))
    assert expected["date"].to_list() == forecast.dates.tolist()


def test_a_forecasts_wider_range_holds_the_narrower(forecast: dgd.Forecast) -> None:
    table = forecast_table(forecast)
    narrow, wide = (table.filter(pl.col("part") == f"{level} % range") for level in (50, 80))
    assert narrow.height == wide.height == 4 * 3
    assert (wide["low"] <= narrow["low"]).all()
    assert (wide["high"] >= narrow["high"]).all()


def test_a_forecast_without_ranges_has_a_chart(fit: dgd.Fit) -> None:
    table = forecast_table(fit.forecast(1, origin=fit.panel.dates[-5]))
    assert set(table["part"]) == {"observed", "expected"}


def test_a_scenarios_table_has_both_futures(comparison: ScenarioComparison) -> None:
    table = scenario_table(comparison)
    assert table["part"].unique(maintain_order=True).to_list() == [
        "observed",
        "as planned",
        "changed",
    ]
    assert set(table["series"]) == set(SERIES)
    changed = table.filter((pl.col("part") == "changed") & (pl.col("series") == "arrivals"))
    assert np.allclose(changed["value"], comparison.changed[..., 0].sum((1, 2)))
    assert (changed["low"] < changed["high"]).all()


def test_the_causes_add_up_to_the_difference(comparison: ScenarioComparison) -> None:
    causes = scenario_causes_table(comparison)
    assert causes.height == 4 * 4
    totals = comparison.totals(kind="polars")
    for series, difference in totals.select("series", "difference").iter_rows():
        parts = causes.filter(pl.col("series") == series)
        assert parts["value"].sum() == pytest.approx(difference)
        assert ((parts["value"] < 0) == (parts["sign"] == "fewer")).all()


def test_a_scenario_without_paths_has_a_chart_without_bands(fit: dgd.Fit) -> None:
    found = fit.scenario(MORE, 2, paths=0)
    assert scenario_table(found)["low"].null_count() == scenario_table(found).height
    assert "% range" not in str(scenario_chart(found).to_dict())


def test_the_bars_of_a_day_stand_on_each_other(plan: dgd.Plan) -> None:
    table = plan_table(plan)
    assert table.height == plan.effort.size
    for _, bars in table.group_by("date", "unit"):
        assert bars["low"][0] == 0
        assert np.allclose(bars["low"][1:], bars["high"][:-1])
        assert bars["high"][-1] == pytest.approx(bars["effort"].sum())
    even = table.unique(["date", "unit"])["even"].sum()
    assert even == pytest.approx(plan.even.sum())
    days = (table["until"] - table["date"]).dt.total_days()
    assert set(days) == {1}


CHARTS: dict[str, Callable[..., alt.TopLevelMixin]] = {
    "forecast": forecast_chart,
    "comparison": scenario_chart,
    "plan": plan_chart,
}


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_is_drawn_with_the_year_on_its_axis(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    save_chart(CHARTS[name](request.getfixturevalue(name)), tmp_path / "chart.svg")
    drawing = (tmp_path / "chart.svg").read_text()
    assert " 2022</text>" in drawing
    assert "NaN" not in drawing


def test_charts_are_saved_as_pages_pictures_and_drawings(plan: dgd.Plan, tmp_path: Path) -> None:
    files = save_charts({"plan": plan_chart(plan)}, tmp_path)
    assert files == [str(tmp_path / f"plan.{kind}") for kind in ("html", "png", "svg")]
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    for readable in ("plan.html", "plan.svg"):
        assert "devoted" in (tmp_path / readable).read_text()
