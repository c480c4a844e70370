"""Charts come from tidy tables that add up, and open without a network."""

import itertools
import re
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
import pytest

import dgd
from dgd.diagnostics.crowd_views import people
from dgd.report import (
    counts_chart,
    counts_table,
    density_chart,
    density_table,
    node_table,
    save_chart,
)
from support.shaken import shaken
from support.untrained import untrained


@pytest.fixture(scope="module")
def fit(drawn: dgd.Simulated) -> dgd.Fit:
    """Parameters moved at random from where training starts: charts show any fit."""
    return shaken(untrained(dgd.DGD(), drawn.panel))


def test_densities_integrate_to_one(fit: dgd.Fit) -> None:
    groups = density_table(fit).filter(part="all").group_by("seed", "people", "cohort")
    found = {key for key, _ in groups}
    views = ("there", "seen")
    assert found == set(itertools.product(fit.seeds, views, fit.panel.cohorts))
    for key, group in groups:
        area = np.trapezoid(group["density"], group["propensity"])
        assert area == pytest.approx(1.0, abs=2e-3), key


def test_components_sum_to_the_density(fit: dgd.Fit) -> None:
    keys = ["seed", "people", "cohort", "propensity"]
    table = density_table(fit)
    whole = table.filter(part="all")
    summed = table.filter(pl.col("part") != "all").group_by(keys).agg(pl.col("density").sum())
    both = whole.join(summed, on=keys)
    assert both.height == whole.height
    np.testing.assert_allclose(both["density"], both["density_right"], rtol=1e-9)


def test_densities_have_the_mean_of_their_response_types(fit: dgd.Fit) -> None:
    for (seed, view, cohort), own in people(fit, "polars").group_by("seed", "people", "cohort"):
        group = density_table(fit).filter(seed=seed, people=view, cohort=cohort, part="all")
        density, at = group["density"].to_numpy(), group["propensity"].to_numpy()
        mean = np.trapezoid(density * at, at)
        assert mean == pytest.approx((own["share"] * own["mean"]).sum(), abs=5e-3)


def test_node_weights_sum_to_one(fit: dgd.Fit) -> None:
    table = node_table(fit)
    assert (table["weight"] > 0).all()
    totals = table.group_by("seed", "people", "cohort").agg(pl.col("weight").sum(), pl.len())
    assert totals.height == 2 * len(fit.seeds) * len(fit.panel.cohorts)
    assert np.allclose(totals["weight"], 1.0)
    assert (totals["len"] == fit.settings.components * fit.settings.nodes).all()


def test_a_discrete_population_is_drawn_by_its_nodes_alone(drawn: dgd.Simulated) -> None:
    points = untrained(dgd.DGD(population="discrete"), drawn.panel)
    with pytest.raises(dgd.InputError, match="no density"):
        density_table(points)
    assert density_chart(points).to_dict()["facet"]["field"] == "cohort"


def test_the_counts_table_holds_observed_totals_beside_forecasts(fit: dgd.Fit) -> None:
    table = counts_table(fit)
    panel = fit.panel
    arrivals = table.filter(pl.col("quantity") == "arrivals")
    assert arrivals["observed"].to_list() == panel.arrivals.sum((1, 2))[1:].tolist()
    ahead = fit.forecast(1, origin=panel.dates[30])
    row = arrivals.filter(pl.col("date") == ahead.dates[0].item())
    assert row["forecast"].item() == pytest.approx(ahead.arrivals.sum())


def test_every_day_of_the_counts_table_is_in_its_range(fit: dgd.Fit) -> None:
    table = counts_table(fit).filter(pl.col("quantity") == "click")
    days = table.group_by("range", maintain_order=True).len().rows()
    assert days == [("training", 27), ("validation", 7), ("test", 5)]


@pytest.fixture(scope="module")
def chart(fit: dgd.Fit) -> alt.TopLevelMixin:
    return alt.vconcat(density_chart(fit), counts_chart(fit))


def test_a_page_needs_nothing_from_the_network(chart: alt.TopLevelMixin, tmp_path: Path) -> None:
    path = tmp_path / "chart.html"
    save_chart(chart, path)
    page = path.read_text()
    assert "<html" in page.lower()
    assert len(page) > 500_000, "the drawing library is inside"
    assert not re.search(r"<script[^>]*\ssrc\s*=", page)
    assert not re.search(r"<link[^>]*\shref\s*=\s*[\"']?(https?:)?//", page)
    assert not re.search(r"\bimport\b[^;\n]{0,200}[\"']https?://", page)
    assert "devoted" in page, "the data are inside"


def test_a_picture_is_a_png(chart: alt.TopLevelMixin, tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    save_chart(chart, path)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(content) > 10_000
    assert list(tmp_path.iterdir()) == [path]


def test_another_ending_is_refused_and_nothing_written(
    chart: alt.TopLevelMixin, tmp_path: Path
) -> None:
    with pytest.raises(dgd.InputError, match=r"neither \.html, \.png nor \.svg; choose one"):
        save_chart(chart, tmp_path / "chart.pdf")
    assert list(tmp_path.iterdir()) == []
