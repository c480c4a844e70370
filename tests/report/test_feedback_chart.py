"""The chart of what is carried: means and extremes of the seeds, and where ranges begin."""

import re

import numpy as np
import pytest

import dgd
from dgd.report import feedback_chart, feedback_table
from dgd.report.charts import feedback
from support.shaken import shaken
from support.untrained import untrained


@pytest.fixture(scope="module")
def some_fit(drawn: dgd.Simulated) -> dgd.Fit:
    return shaken(untrained(dgd.DGD(innovations="none"), drawn.panel), scale=0.4)


def texts_of(value: object) -> str:
    return re.sub(r"\s+", " ", str(value))


def test_the_table_holds_mean_and_extremes_of_the_seeds(some_fit: dgd.Fit) -> None:
    table, whole = feedback_table(some_fit), some_fit.feedback("polars")
    assert table.height * len(some_fit.seeds) == whole.height
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    row = table.filter(state="fatigue", who=some_fit.panel.cohorts[1])[10]
    seeds = whole.filter(state="fatigue", who=some_fit.panel.cohorts[1], date=row["date"].item())
    assert row["value"].item() == pytest.approx(np.mean(seeds["value"].to_numpy()))
    assert row["low"].item() == min(seeds["value"])


def test_every_state_has_a_panel_and_ranges_their_beginnings(some_fit: dgd.Fit) -> None:
    said = texts_of(feedback_chart(some_fit).to_dict())
    for words in ("memory of click", "fatigue", "shift", "environment", "validation", "test"):
        assert f"'{words}" in said


def test_long_series_are_thinned_in_the_chart_and_whole_in_the_table(
    some_fit: dgd.Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feedback, "MOST_DATES", 20)
    rows = [row for rows in feedback_chart(some_fit).to_dict()["datasets"].values() for row in rows]
    drawn = {row["date"] for row in rows if row.get("value") is not None}
    assert len(drawn) <= 20
    assert feedback_table(some_fit)["date"].n_unique() == some_fit.panel.days + 1


def test_a_fit_that_carries_nothing_has_nothing_to_draw(drawn: dgd.Simulated) -> None:
    still = untrained(dgd.DGD(dynamics="none"), drawn.panel)
    assert feedback_table(still).is_empty()
    with pytest.raises(dgd.InputError, match="nothing is carried"):
        feedback_chart(still)
