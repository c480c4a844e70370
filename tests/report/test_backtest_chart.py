"""The chart of a backtest shows every forecaster beside the model, and what ranges cover."""

from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
import pytest

from dgd import Backtest, backtest
from dgd.baselines import LastDayHistory, SlowHistory, TrainingHistory
from dgd.report import backtest_chart, backtest_coverage_table, backtest_table, save_chart
from support.small_counts import ENDS, panel_of

MODELS = {"training": TrainingHistory(), "last": LastDayHistory(), "slow": SlowHistory()}


@pytest.fixture(scope="module")
def result() -> Backtest:
    return backtest(panel_of(60), MODELS, horizons=[1, 14], paths=40, **ENDS)


def drawn(chart: alt.TopLevelMixin, folder: Path) -> str:
    save_chart(chart, folder / "chart.svg")
    return (folder / "chart.svg").read_text()


def test_every_forecaster_stands_beside_the_model(result: Backtest) -> None:
    table = backtest_table(result)
    assert table["forecaster"].to_list() == list(MODELS) * (2 * 3)
    scores = ["joint NLL", "error of behaviour counts", "error of arrivals"]
    assert table["score"].unique(maintain_order=True).to_list() == scores
    known = result.to_frame("polars").filter(model="last", horizon=14, metric="arrival_mae")
    found = table.filter(forecaster="last", horizon=14, score="error of arrivals")
    assert found["value"].item() == pytest.approx(known["mean"].item())
    itself = table.filter(forecaster="training")
    assert set(itself["relative"]) == {0.0}
    assert set(itself["verdict"]) == {"training itself"}


def test_differences_are_per_cent_of_the_models_score(result: Backtest) -> None:
    table = backtest_table(result).filter(horizon=1, score="joint NLL")
    own = table.filter(forecaster="training")["value"].item()
    for row in table.filter(pl.col("forecaster") != "training").iter_rows(named=True):
        assert row["relative"] == pytest.approx(100 * (row["value"] - own) / own)
        assert row["low"] < row["relative"] < row["high"]


def test_the_verdict_is_that_of_the_paired_comparison(result: Backtest) -> None:
    table, compared = backtest_table(result), result.opponents("polars")
    rows = table.filter(pl.col("forecaster") != "training")["verdict"].to_list()
    expected = []
    for row in compared.sort("horizon", maintain_order=True).iter_rows(named=True):
        if row["p_value"] is None:
            expected.append("too few origins to tell")
        elif row["p_value"] >= 0.05:
            expected.append("not told apart from chance")
        else:
            expected.append(f"training {'better' if row['difference'] < 0 else 'worse'}")
    assert rows == expected
    assert len(set(rows)) > 1, "the example has several verdicts"


def test_coverage_is_the_mean_over_series(result: Backtest) -> None:
    table = backtest_coverage_table(result)
    assert table["range"].unique(maintain_order=True).to_list() == ["80 % range", "95 % range"]
    row = table.filter(horizon=1, forecaster="slow", promised=80.0)["covered"].item()
    each = result.ranges("polars").filter(horizon=1, model="slow", level=80.0)["coverage"]
    assert row == pytest.approx(100 * np.mean(each.to_numpy()))


def test_the_chart_carries_the_verdict_and_the_words(result: Backtest, tmp_path: Path) -> None:
    svg = drawn(backtest_chart(result), tmp_path)
    assert result.verdict()[0][:60] in svg
    for words in ("14 days ahead", "what ranges cover", "95 % range", "too few origins to tell"):
        assert f">{words}<" in svg
    assert "NaN" not in svg


def test_a_model_alone_without_ranges_has_a_chart(tmp_path: Path) -> None:
    alone = backtest(panel_of(28), {"last": LastDayHistory()}, horizons=[1], paths=0, **ENDS)
    assert backtest_table(alone)["relative"].to_list() == [0.0] * 3
    svg = drawn(backtest_chart(alone), tmp_path)
    assert "last has no opponent" in svg
    assert "what ranges cover" not in svg


def test_a_score_that_is_infinite_leaves_its_place_empty(result: Backtest, tmp_path: Path) -> None:
    impossible = pl.when(pl.col("model") == "last").then(np.inf).otherwise("score").alias("score")
    other = Backtest(
        result.panel, result.fits, result.scores, result.totals,
        result.by_origin.with_columns(impossible), result.by_level,
    )  # fmt: skip
    table = backtest_table(other).filter(forecaster="last")
    assert table["relative"].null_count() == table.height
    assert "NaN" not in drawn(backtest_chart(other), tmp_path)
