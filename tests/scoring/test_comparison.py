"""Who won a backtest: scores origin by origin, the best opponent, and what is said of it."""

import numpy as np
import polars as pl
import pytest

from dgd import Backtest, backtest
from dgd.baselines import LastDayHistory, SlowHistory, TrainingHistory
from dgd.scoring import compare_with_best, paired_difference
from dgd.scoring.verdict import verdict_on
from support.small_counts import ENDS, panel_of

MODELS = {"training": TrainingHistory(), "last": LastDayHistory(), "slow": SlowHistory()}


@pytest.fixture(scope="module")
def result() -> Backtest:
    return backtest(panel_of(60), MODELS, horizons=[1, 3, 14], **ENDS)


def by_origin(**scores: list[float]) -> pl.DataFrame:
    """One horizon and one score, models as given."""
    return pl.concat(
        pl.DataFrame({"score": own, "weight": 1.0}).select(
            pl.lit(name).alias("model"),
            pl.lit(1, pl.Int64).alias("horizon"),
            pl.lit("arrival_mae").alias("metric"),
            pl.all(),
        )
        for name, own in scores.items()
    )


def said(**scores: list[float]) -> str:
    table = compare_with_best(by_origin(**scores))
    return verdict_on(table, len(scores) - 1, "day")[0]


def test_scores_of_origins_average_to_the_scores_of_all_days(result: Backtest) -> None:
    mean = (pl.col("score") * pl.col("weight")).sum() / pl.col("weight").sum()
    keys = ["model", "horizon", "metric"]
    daily = result.origins_to_frame("polars").group_by(keys).agg(mean.alias("by_origin"))
    both = daily.join(result.to_frame("polars"), on=keys)
    assert both.height == 3 * 3 * 3
    np.testing.assert_allclose(both["by_origin"], both["mean"], rtol=1e-12)


def test_origins_have_dates_and_weigh_by_their_events(result: Backtest) -> None:
    table = result.origins_to_frame("polars").filter(model="last", horizon=3)
    assert ((table["date"] - table["origin"]).dt.total_days() == 3).all()
    events = result.panel.arrivals[23:].sum((1, 2)).tolist()
    assert table.filter(metric="joint_nll")["weight"].to_list() == events
    assert set(table.filter(metric="arrival_mae")["weight"]) == {1.0}


def test_the_opponent_is_the_best_of_the_others(result: Backtest) -> None:
    table = result.comparison("polars")
    assert table.height == 3 * 3
    overall = result.to_frame("polars")
    days = result.origins_to_frame("polars")
    for row in table.iter_rows(named=True):
        keys = {"horizon": row["horizon"], "metric": row["metric"]}
        others = overall.filter(pl.col("model") != "training", **keys)
        assert row["model"] == "training"
        assert row["opponent"] == others.sort("mean")["model"][0]
        assert row["opponent_score"] == pytest.approx(others["mean"].min())
        own, best = (days.filter(model=row[who], **keys) for who in ("model", "opponent"))
        expected = paired_difference(
            own["score"].to_numpy(), best["score"].to_numpy(), own["weight"].to_numpy(),
            row["horizon"],
        )  # fmt: skip
        assert [row[name] for name in expected._fields] == pytest.approx(list(expected))


def test_every_opponent_has_a_row_and_the_best_is_one_of_them(result: Backtest) -> None:
    each, best = result.opponents("polars"), result.comparison("polars")
    assert each.columns == best.columns
    assert each.height == 2 * best.height
    assert set(each["opponent"]) == {"last", "slow"}
    assert each.join(best, on=best.columns, how="semi", nulls_equal=True).height == best.height
    lowest = each.group_by("horizon", "metric", maintain_order=True).agg(
        pl.col("opponent_score").min()
    )
    assert lowest["opponent_score"].to_list() == best["opponent_score"].to_list()


def test_dgd_is_the_model_in_question_wherever_it_stands() -> None:
    rng = np.random.default_rng(1)
    table = compare_with_best(by_origin(a=rng.normal(3, 1, 9).tolist(), dgd=[1.0] * 9))
    assert table.select("model", "opponent").row(0) == ("dgd", "a")


def test_a_win_and_a_loss_are_told_in_the_same_words() -> None:
    better, worse = [1.0, 1.2, 0.9, 1.1, 1.0, 0.8], [2.0, 2.1, 2.2, 1.9, 2.0, 1.8]
    words = "lowest error of arrivals, 1.00 against 2.00 of {} (difference -1.00, 95% interval "
    won, lost = said(dgd=better, other=worse), said(dgd=worse, other=better)
    assert won.startswith("1 day ahead: dgd has the " + words.format("other"))
    assert lost.startswith("1 day ahead: other has the " + words.format("dgd"))
    assert won.partition("(")[2] == lost.partition("(")[2]
    assert won.endswith(" over 6 origins: more than chance).")


def test_a_small_difference_is_not_told_apart_from_chance() -> None:
    sentence = said(dgd=[1.0, 2.0, 3.0, 4.0, 5.0], other=[2.0, 1.0, 4.0, 3.0, 5.001])
    assert "difference -0.00020" in sentence
    assert sentence.endswith("over 5 origins: not told apart from chance).")


def test_what_cannot_be_told_is_said() -> None:
    few = said(dgd=[1.0] * 4, other=[2.0] * 4)
    assert few.endswith(
        "(difference -1.00; 4 origins are too few to tell it from chance, 5 are needed)."
    )
    assert "have the same error of arrivals, 1.00." in said(dgd=[1.0] * 6, other=[1.0] * 6)
    assert "forecast to be impossible" in said(dgd=[1.0] * 6, other=[np.inf] * 6)
    assert "nothing arrived on the test days" in said(dgd=[np.nan] * 6, other=[np.nan] * 6)


def test_a_verdict_has_a_sentence_per_horizon_and_score(result: Backtest) -> None:
    told = result.verdict()
    assert len(told) == 3 * 3 + 1
    assert [sentence.split(" ahead")[0] for sentence in told[:9:3]] == [
        "1 day", "3 days", "14 days",
    ]  # fmt: skip
    assert "26 origins are too few to tell it from chance, 42 are needed" in told[6]
    assert (
        "The opponent of training is each time the best of 2 others, picked with hindsight"
        in told[-1]
    )


def test_a_model_alone_has_nobody_to_beat() -> None:
    alone = backtest(panel_of(28), {"last": LastDayHistory()}, horizons=[1], **ENDS)
    assert alone.verdict() == ()
    assert alone.comparison("polars").is_empty()
    assert {"difference", "low", "high", "p_value"} <= set(alone.comparison("pandas").columns)
