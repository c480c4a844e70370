"""Which behaviours come together: shares of what was counted, and of what was forecast."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.panel.pattern_counts import PatternCounts
from dgd.report import behavior_rates_table, co_occurrence_chart, co_occurrence_table
from support.shaken import shaken
from support.untrained import untrained


@pytest.fixture(scope="module")
def some_fit(drawn: dgd.Simulated) -> dgd.Fit:
    return shaken(untrained(dgd.DGD(), drawn.panel), scale=0.4)


def later(fit: dgd.Fit) -> pl.DataFrame:
    """The counts after training."""
    counts: pl.DataFrame = fit.panel.to_frame("polars")
    return counts.filter(pl.col("date") > fit.panel.dates[fit.split.train_stop - 1].item())


def test_shares_are_those_of_the_arrivals_after_training(some_fit: dgd.Fit) -> None:
    counts = later(some_fit)
    total = counts["count"].sum()
    table = co_occurrence_table(some_fit)
    assert table.height == 6
    for row in table.iter_rows(named=True):
        both = counts.filter((pl.col(row["first"]) == 1) & (pl.col(row["second"]) == 1))
        assert row["observed"] == pytest.approx(both["count"].sum() / total)


def test_lift_is_against_the_product_of_both_rates(some_fit: dgd.Fit) -> None:
    table = co_occurrence_table(some_fit)
    rates = dict(table.filter(first=pl.col("second")).select("first", "observed").iter_rows())
    pairs = table.filter(pl.col("first") != pl.col("second"))
    assert pairs.height == 3
    for row in pairs.iter_rows(named=True):
        assert row["independent"] == pytest.approx(rates[row["first"]] * rates[row["second"]])
        assert row["lift"] == pytest.approx(row["observed"] / row["independent"])
    assert table.filter(pl.col("first") == pl.col("second"))["lift"].is_null().all()


def test_forecasts_are_one_day_ahead_and_weighed_by_arrivals(some_fit: dgd.Fit) -> None:
    days = np.arange(some_fit.split.train_stop, some_fit.panel.days)
    total = np.zeros(8)
    for day in days:
        ahead = some_fit.forecast(1, origin=some_fit.panel.dates[day - 1])
        total += (some_fit.panel.arrivals[day][..., None] * ahead.patterns[0]).sum((0, 1))
    total /= some_fit.panel.arrivals[days].sum()
    table = co_occurrence_table(some_fit)
    found = table.filter(first="click", second="share")["forecast"].item()
    assert found == pytest.approx(total[0b101] + total[0b111])


def test_rates_of_cohorts_add_up_to_those_of_all(some_fit: dgd.Fit) -> None:
    rates, counts = behavior_rates_table(some_fit), later(some_fit)
    share = counts.group_by("cohort").agg(pl.col("count").sum() / counts["count"].sum())
    both = rates.join(share, on="cohort")
    for kind in ("observed", "forecast"):
        whole = both.filter(behavior="like").select((pl.col(kind) * pl.col("count")).sum()).item()
        all_of_them = co_occurrence_table(some_fit).filter(first="like", second="like")
        assert whole == pytest.approx(all_of_them[kind].item())


def test_without_later_arrivals_the_training_days_are_shown(some_fit: dgd.Fit) -> None:
    patterns = some_fit.panel.patterns.copy()
    patterns[some_fit.split.train_stop :] = 0
    ended = replace(some_fit, panel=replace(some_fit.panel, counts=PatternCounts.of(patterns)))
    own = patterns[1 : some_fit.split.train_stop].sum((0, 1, 2))
    table = co_occurrence_table(ended)
    found = table.filter(first="click", second="like")["observed"].item()
    assert found == pytest.approx((own[0b011] + own[0b111]) / own.sum())


@pytest.mark.parametrize("behaviors", [["click"], ["click", "like"], list("abcdefgh")])
def test_one_behaviour_has_rates_and_many_a_map(behaviors: list[str]) -> None:
    world = dgd.simulate(dgd.example_world(arrivals=5, behaviors=behaviors), 40, seed=3)
    fit = untrained(dgd.DGD(nodes=2), world.panel, seeds=[1])
    parts = co_occurrence_chart(fit).to_dict()
    (panels,) = (parts[key] for key in ("hconcat", "vconcat") if key in parts)
    assert len(panels) == (1 if len(behaviors) == 1 else 2)
