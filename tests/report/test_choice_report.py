"""Charts of demand come from tables that agree with the fit."""

from dataclasses import replace
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
import pytest

from dgd.choice import ChoiceFit
from dgd.report import (
    demand_curve_chart,
    demand_curve_table,
    save_chart,
    sensitivity_chart,
    sensitivity_table,
)
from dgd.runtime import computing
from support.random_choice import SIZES, make, offers_table, random_demand, random_fit
from support.refusals import refused


@pytest.fixture(scope="module")
def fit() -> ChoiceFit:
    return random_fit(make(sizes=SIZES))


def test_shares_of_people_sum_to_one(fit: ChoiceFit):
    table = sensitivity_table(fit)
    assert (table["share"] >= 0).all()
    totals = table.group_by("seed", "cohort").agg(pl.col("share").sum())
    assert totals.height == len(fit.seeds) * len(SIZES)
    assert np.allclose(totals["share"], 1.0)


def test_bands_have_the_mean_sensitivity_of_the_choosers(fit: ChoiceFit):
    middle, sensitivity = (pl.col("from") + pl.col("to")) / 2, pl.col("price sensitivity")
    of_bands = (
        sensitivity_table(fit).group_by("seed", "cohort").agg(mean=(pl.col("share") * middle).sum())
    )
    of_nodes = (
        fit.choosers("polars")
        .group_by("seed", "cohort")
        .agg(mean=(pl.col("weight") * sensitivity).sum())
    )
    both = of_bands.join(of_nodes, on=["seed", "cohort"])
    assert np.allclose(both["mean"], both["mean_right"], rtol=0.02)


def test_demand_curves_are_the_fits_own(fit: ChoiceFit):
    table = demand_curve_table(fit, ["a"], [1.0, 2.0])
    assert table.columns == ["product", "measure", "price", "value", "lowest", "highest"]
    curve = fit.demand_curve("a", [1.0, 2.0], kind="polars")
    for measure in ("count", "revenue", "revenue of all"):
        found = table.filter(pl.col("measure") == measure)
        assert np.allclose(found["value"], curve[measure])
        assert (found["lowest"] <= found["value"]).all()
        assert (found["value"] <= found["highest"]).all()


def test_curves_span_the_prices_a_product_was_offered_at(fit: ChoiceFit):
    table = demand_curve_table(fit)
    offers = fit.markets.rows().filter(pl.col("available"))
    for product in fit.markets.products:
        asked = table.filter(pl.col("product") == product)["price"]
        known = offers.filter(pl.col("product") == product)["price"]
        assert (asked.min(), asked.max()) == pytest.approx((known.min(), known.max()))
    with refused("'q'"):
        demand_curve_table(fit, ["q"])


def moved(**prices: tuple[float, float]) -> ChoiceFit:
    """A fit of markets in which products have other prices: times a number, plus another."""
    table = offers_table()
    for product, (times, plus) in prices.items():
        own = pl.col("product") == product
        price = pl.when(own).then(pl.col("price") * times + plus).otherwise("price")
        table = table.with_columns(price.alias("price"))
    return random_fit(make(table, sizes=SIZES))


def panels_of(chart: alt.TopLevelMixin) -> list[str]:
    """Titles of the products that have panels of their own."""
    made = chart.to_dict()
    return [part["title"]["text"] for part in made.get("concat", [])]


def test_products_of_alike_prices_share_their_axes(fit: ChoiceFit):
    chart = demand_curve_chart(fit, ["a", "b"], [1.0, 2.0, 3.0])
    assert panels_of(chart) == []
    assert "product" in str(chart.to_dict()["vconcat"][0]["layer"][0]["encoding"]["color"])


@pytest.mark.parametrize("prices", [{"a": (100.0, 0.0)}, {"a": (1.0, 50.0)}])
def test_products_far_apart_have_panels_of_their_own(prices: dict[str, tuple[float, float]]):
    chart = demand_curve_chart(moved(**prices))
    assert panels_of(chart) == ["a", "b", "c", "d"]
    spec = chart.to_dict()
    for product, part in zip("abcd", spec["concat"], strict=True):
        for panel in part["vconcat"]:
            rows = spec["datasets"][panel["data"]["name"]]
            assert {row["product"] for row in rows} == {product}


@pytest.mark.parametrize(
    "population",
    ["gaussian", *(pytest.param(other, marks=pytest.mark.slow) for other in ("discrete", "point"))],
)
def test_charts_are_files_people_can_open(population: str, fit: ChoiceFit, tmp_path: Path):
    with computing():
        runs = tuple(
            replace(run, parameters=random_demand(run.seed, population)) for run in fit.runs
        )
    drawn = replace(fit, runs=runs)
    charts = {"people": sensitivity_chart(drawn), "demand": demand_curve_chart(drawn, ["a"])}
    for name, chart in charts.items():
        for ending in ("html", "png"):
            save_chart(chart, tmp_path / f"{name}.{ending}")
    page = (tmp_path / "people.html").read_text()
    assert "price sensitivity" in page
    assert (tmp_path / "demand.png").read_bytes().startswith(b"\x89PNG")
