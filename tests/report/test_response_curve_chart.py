"""The chart of response curves draws what the fit says, and says what goes beyond the data."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dgd
from dgd.report import response_curve_chart, response_curve_table, save_chart
from support.refusals import refused
from support.shaken import shaken
from support.untrained import untrained

ASKED: dict[str, Any] = {"efforts": [0.5, 1.0, 20.0], "horizon": 2}


@pytest.fixture(scope="module")
def fit(drawn: dgd.Simulated) -> dgd.Fit:
    """Parameters moved at random from where training starts: charts show any fit."""
    return shaken(untrained(dgd.DGD(), drawn.panel, seeds=(1,)))


@pytest.fixture(scope="module")
def table(fit: dgd.Fit) -> pl.DataFrame:
    return response_curve_table(fit, **ASKED)


def test_every_cohort_and_all_together_have_a_line(fit: dgd.Fit, table: pl.DataFrame) -> None:
    names = [*fit.panel.cohorts, "all"]
    assert table["cohort"].unique(maintain_order=True).to_list() == names
    assert table.height == len(names) * len(fit.panel.series) * 3
    one = fit.response_curve("casual", **ASKED, kind="polars")
    for series in fit.panel.series:
        found = table.filter(cohort="casual", series=series)
        assert found["value"].to_list() == pytest.approx(one[series].to_list())
        assert found["effort"].to_list() == one["effort"].to_list()


@pytest.mark.slow
def test_a_panel_with_one_cohort_has_one_line(drawn: dgd.Simulated) -> None:
    counts = drawn.panel.to_frame("polars").filter(cohort="casual")
    dates = drawn.panel.dates
    effort = pl.DataFrame({"date": dates, "effort": drawn.panel.effort[:, 0, 0]})
    panel = dgd.Panel.from_counts(
        counts, behaviors=["click", "like", "share"], effort=effort, start=dates[0], end=dates[-1]
    )
    fit = untrained(dgd.DGD(), panel, seeds=(1,))
    assert set(response_curve_table(fit, **ASKED)["cohort"]) == {"casual"}


def test_the_chart_says_what_was_not_seen_and_what_was_not_learned(
    fit: dgd.Fit, table: pl.DataFrame, tmp_path: Path
) -> None:
    assert table.filter(multiple=20.0)["seen"].to_list() == [False] * (4 * 4)
    words = {"learned": "learned", "assumed": "it is assumed to be proportional"}
    proportional = shaken(untrained(dgd.DGD.paper(), fit.panel, seeds=(1,)))
    for made, kind in ((fit, "learned"), (proportional, "assumed")):
        assert set(response_curve_table(made, **ASKED)["response"]) == {kind}
        save_chart(response_curve_chart(made, **ASKED), tmp_path / "curve.svg")
        svg = (tmp_path / "curve.svg").read_text()
        assert words[kind] in svg
        assert "dashed: more than training has seen" in svg
        assert "stroke-dasharray" in svg
        assert ("it is assumed" in svg) == (kind == "assumed")
        assert "NaN" not in svg


def test_a_fit_without_effort_has_no_curve(fit: dgd.Fit) -> None:
    with refused("a response curve needs effort"):
        response_curve_table(replace(fit, panel=replace(fit.panel, has_effort=False)))
