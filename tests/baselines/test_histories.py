"""The historical opponents: the paper's figures, small cases by hand, and no look ahead."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from dgd import Backtest, InputError, Panel, backtest
from dgd.baselines import (
    LastDayHistory,
    SlowHistory,
    SmoothedHistory,
    TrainingHistory,
    WeekdayHistory,
)
from dgd.baselines.weekday_history import weekday_mean
from dgd.datasets import online_retail
from dgd.model import behavior_bits
from dgd.panel.pattern_counts import PatternCounts
from support.real_data import real_data

HISTORIES: dict[str, Any] = {
    "training": TrainingHistory(),
    "last day": LastDayHistory(),
    "smoothed": SmoothedHistory(),
    "slow": SlowHistory(),
    "weekday": WeekdayHistory(),
}
ENDS = {"train_end": "2024-01-04", "validation_end": "2024-01-06"}


def panel_of(*days: list[int], start: str = "2024-01-01") -> Panel:
    """One unit, one cohort, one behaviour; each day is [without it, with it]."""
    dates = np.datetime64(start) + np.arange(len(days))
    rows = [
        {"date": date, "click": click, "count": day[click]}
        for date, day in zip(dates.tolist(), days, strict=True)
        for click in (0, 1)
    ]
    return Panel.from_counts(pl.DataFrame(rows), unit=None, cohort=None, behaviors=["click"])


def small() -> Panel:
    """Four training days, two for validation, two to test; the third day is empty."""
    return panel_of([3, 1], [2, 2], [0, 0], [1, 3], [4, 4], [2, 6], [5, 1], [7, 7])


PRIOR = np.array([6.5, 6.5]) / 13


def predicted(forecaster: Any, panel: Panel, origin: int, horizon: int = 1, **ends: str) -> Any:
    fitted = forecaster.fit(panel, **{**ENDS, **ends})
    found = fitted.predict(np.array([origin]), horizon)
    return found.arrivals[0, :, 0, 0, 0], found.patterns[0, :, 0, 0, 0]


def test_training_history_by_hand() -> None:
    arrivals, patterns = predicted(TrainingHistory(taus=[10]), small(), origin=5, horizon=2)
    assert arrivals.tolist() == [12 / 4, 12 / 4]
    q = (np.array([6, 6]) + 10 * PRIOR) / 22
    assert patterns == pytest.approx(np.stack([q, q]))


def test_last_day_history_by_hand() -> None:
    arrivals, patterns = predicted(LastDayHistory(taus=[1]), small(), origin=5, horizon=2)
    assert arrivals.tolist() == [8, 8]
    q = (np.array([2, 6]) + PRIOR) / 9
    assert patterns == pytest.approx(np.stack([q, q]))


def test_smoothed_history_by_hand_lets_empty_days_in() -> None:
    forecaster = SmoothedHistory(half_lives=[1], taus=[1])
    arrivals, patterns = predicted(forecaster, small(), origin=3)
    counts = np.array([3.0, 1.0])
    for day in ([2, 2], [0, 0], [1, 3]):
        counts = 0.5 * counts + 0.5 * np.array(day)
    assert arrivals == pytest.approx([counts.sum()])
    assert patterns[0] == pytest.approx((counts + PRIOR) / (counts.sum() + 1))


def test_smoothed_history_begins_after_the_warmup() -> None:
    forecaster = SmoothedHistory(half_lives=[1], taus=[1])
    arrivals, _ = predicted(forecaster, small(), origin=2, warmup_end="2024-01-01")
    assert arrivals == pytest.approx([2.0])


def test_slow_history_is_smoothed_history_over_weeks() -> None:
    slow = SlowHistory()
    assert (min(slow.half_lives), max(slow.half_lives)) == (7, 112)
    assert (min(slow.taus), max(slow.taus)) == (0.1, 100)
    same = SmoothedHistory(half_lives=slow.half_lives, taus=slow.taus)
    found = [predicted(one, small(), origin=5) for one in (slow, same)]
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_slow_history_follows_a_drift_of_weeks() -> None:
    """Shares drift slowly under noisy days: neither a few days nor the whole past is best."""
    rng = np.random.default_rng(3)
    share = 0.5 + 0.3 * np.sin(np.arange(150) / 40)
    days = np.stack([rng.binomial(5, 1 - share), rng.binomial(5, share)], 1)
    ends = {"train_end": "2024-03-31", "validation_end": "2024-04-30"}
    models = {"slow": SlowHistory(), "training": TrainingHistory(), "last": LastDayHistory()}
    result = backtest(panel_of(*days.tolist()), models, horizons=[1], **ends, paths=0)
    nll = {row["model"]: row["mean"] for row in rows_of(result, "joint_nll")}
    assert nll["slow"] < min(nll["training"], nll["last"])


def rows_of(result: Backtest, metric: str) -> list[dict[str, Any]]:
    return result.to_frame("polars").filter(metric=metric).to_dicts()


def test_weekday_history_by_hand() -> None:
    """Three weeks of rising counts: tomorrow is the mean of the same day one and two weeks ago."""
    panel = panel_of(*[[day, 2 * day] for day in range(21)])
    fitted = WeekdayHistory(weeks=[2], taus=[1]).fit(
        panel, train_end="2024-01-15", validation_end="2024-01-17"
    )
    steps = fitted.predict(np.array([16, 18]), 9).arrivals[0, :, :, 0, 0]
    assert steps[0].tolist() == [3 * (10 + 3) / 2, 3 * (12 + 5) / 2]
    assert steps[6, 0] == 3 * (16 + 9) / 2
    # Day 24 ahead of origin 16: days 10 and 3 are the last such weekdays known.
    assert steps[7, 0] == 3 * (10 + 3) / 2


def test_weekday_history_takes_the_weeks_there_are() -> None:
    panel = panel_of(*[[day, 0] for day in range(12)])
    fitted = WeekdayHistory(weeks=[8]).fit(
        panel, train_end="2024-01-05", validation_end="2024-01-10"
    )
    arrivals = fitted.predict(np.array([9, 4]), 1).arrivals
    assert arrivals[0, 0, :, 0, 0].tolist() == [3.0, np.mean(range(5))]


def test_weekday_history_chooses_the_weeks_with_least_validation_error() -> None:
    """The level jumped a week before validation, so one week is better than more."""
    days = [[5, 5]] * 14 + [[20, 20]] * 17
    fitted = WeekdayHistory().fit(
        panel_of(*days), train_end="2024-01-21", validation_end="2024-01-28"
    )
    assert fitted.settings["weeks"] == 1


def test_settings_are_chosen_by_validation_nll() -> None:
    """Validation days like yesterday want little smoothing; days like the mean want much."""
    like_yesterday = panel_of(*[[90, 10], [10, 90]] * 2, *[[90, 10]] * 4)
    ends = {"train_end": "2024-01-05", "validation_end": "2024-01-07"}
    assert LastDayHistory().fit(like_yesterday, **ends).settings == {"tau": 1.0}
    unlike_yesterday = panel_of(*[[90, 10], [10, 90]] * 4)
    assert LastDayHistory().fit(unlike_yesterday, **ends).settings == {"tau": 100.0}


@pytest.mark.parametrize("name", HISTORIES)
def test_later_counts_change_nothing(name: str) -> None:
    rng = np.random.default_rng(5)
    panel = panel_of(*rng.integers(0, 9, (30, 2)).tolist())
    ends = {"train_end": "2024-01-15", "validation_end": "2024-01-22"}
    origin = 23
    changed = panel.patterns.copy()
    changed[origin + 1 :] += 50
    before = HISTORIES[name].fit(panel, **ends)
    after = HISTORIES[name].fit(replace(panel, counts=PatternCounts.of(changed)), **ends)
    assert before.settings == after.settings
    assert before.dispersion == pytest.approx(after.dispersion, rel=1e-12)
    origins = np.array([22, origin])
    one, other = (fitted.predict(origins, 3) for fitted in (before, after))
    np.testing.assert_allclose(one.arrivals, other.arrivals, rtol=1e-12)
    np.testing.assert_allclose(one.patterns, other.patterns, rtol=1e-12)
    # Nor do the days after an origin change what is predicted from an earlier one.
    alone = before.predict(np.array([22]), 3).arrivals
    np.testing.assert_allclose(alone[:, :, 0], one.arrivals[:, :, 0], rtol=1e-12)


def test_the_dispersion_is_measured_on_the_training_days_by_hand() -> None:
    """Training days have 4, 4, 0 and 4 arrivals; the last day forecasts 4, 4 and 0."""
    fitted = LastDayHistory().fit(small(), **ENDS)
    excess = (0 - 4) + (16 - 4) + (16 - 0)
    assert fitted.dispersion == pytest.approx((16 + 16 + 0) / excess)
    assert fitted.predict(np.array([5]), 1).dispersion == fitted.dispersion


def test_a_dispersion_of_the_days_is_found_again() -> None:
    rng = np.random.default_rng(8)
    arrivals = rng.poisson(rng.gamma(5.0, 40 / 5.0, 400))
    panel = panel_of(*[[n, 0] for n in arrivals.tolist()])
    ends = {"train_end": panel.dates[380], "validation_end": panel.dates[390]}
    assert TrainingHistory().fit(panel, **ends).dispersion == pytest.approx(5.0, rel=0.2)


def test_one_training_day_measures_no_dispersion() -> None:
    fitted = LastDayHistory().fit(small(), train_end="2024-01-01", validation_end="2024-01-02")
    assert fitted.dispersion == np.inf


@pytest.mark.parametrize("name", HISTORIES)
def test_predicting_leaves_the_panel_as_it_was(name: str) -> None:
    panel = small()
    before = panel.patterns.copy()
    HISTORIES[name].fit(panel, **ENDS).predict(np.array([5, 6]), 2)
    np.testing.assert_array_equal(panel.patterns, before)


def test_hourly_panels_remember_the_hour_of_the_week() -> None:
    hours = np.datetime64("2024-01-01", "us") + np.arange(24 * 22) * np.timedelta64(1, "h")
    rows = {"date": hours, "click": 0, "count": np.arange(len(hours)) % 168}
    panel = Panel.from_counts(
        pl.DataFrame(rows), unit=None, cohort=None, behaviors=["click"], period="hour"
    )
    fitted = WeekdayHistory().fit(panel, train_end="2024-01-18T00", validation_end="2024-01-20T00")
    origins = np.arange(480, 490)
    arrivals = fitted.predict(origins, 1).arrivals
    assert arrivals[0, 0, :, 0, 0] == pytest.approx((origins + 1) % 168)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TrainingHistory(taus=[0]), "taus is (0,)"),
        (lambda: LastDayHistory(taus=[]), "taus is ()"),
        (lambda: SmoothedHistory(half_lives=[-1]), "half_lives is (-1,)"),
        (lambda: SlowHistory(half_lives=[0]), "half_lives is (0,)"),
        (lambda: WeekdayHistory(weeks=[0]), "weeks is (0,)"),
    ],
)
def test_impossible_candidates_are_refused(make: Any, words: str) -> None:
    with pytest.raises(InputError) as refused:
        make()
    assert words in str(refused.value)


def test_origins_without_history_are_refused() -> None:
    fitted = LastDayHistory().fit(small(), **ENDS, warmup_end="2024-01-02")
    with pytest.raises(InputError, match=r"origin 1 \(2024-01-02\) is not a day number from 2"):
        fitted.predict(np.array([1]), 1)
    with pytest.raises(
        InputError, match=r"origin 8 is not .* to 7 \(2024-01-08\), the last counted one"
    ):
        fitted.predict(np.array([8]), 1)
    with pytest.raises(InputError, match="horizon is 0"):
        fitted.predict(np.array([5]), 0)


def test_validation_days_without_arrivals_are_refused() -> None:
    empty = panel_of([3, 1], [2, 2], [1, 1], [1, 3], [0, 0], [0, 0], [5, 1])
    with pytest.raises(InputError, match="no arrivals from 2024-01-05 to 2024-01-06"):
        TrainingHistory().fit(empty, **ENDS)


@cache
def retail(window: int) -> Backtest:
    dataset = online_retail(real_data("online_retail_ii"), window)
    ends = ("warmup_end", "train_end", "validation_end")
    dates = {end: getattr(dataset.window, end) for end in ends}
    return backtest(dataset.panel, HISTORIES, horizons=(1, 3), **dates, paths=0)


def score(result: Backtest, model: str, metric: str, horizon: int = 1) -> float:
    row = result.to_frame("polars").row(
        by_predicate=(pl.col("model") == model)
        & (pl.col("metric") == metric)
        & (pl.col("horizon") == horizon),
        named=True,
    )
    assert row["origins"] == 18 - horizon
    return row["mean"]


@pytest.mark.parametrize(
    ("window", "model", "paper"),
    [
        (2010, "training", 13.53),
        (2011, "training", 14.34),
        (2010, "last day", 12.36),
        (2011, "last day", 11.83),
        (2010, "smoothed", 10.38),
        (2011, "smoothed", 12.29),
    ],
)
def test_behavior_counts_of_the_paper(window: int, model: str, paper: float) -> None:
    assert round(score(retail(window), model, "behavior_count_mae"), 2) == paper


@pytest.mark.parametrize(
    ("window", "training_tau"), [(2010, 10.0), (2011, 100.0)], ids=["2010", "2011"]
)
def test_settings_of_the_paper(window: int, training_tau: float) -> None:
    settings = retail(window).settings
    assert settings["training"] == {"tau": training_tau}
    assert settings["last day"] == {"tau": 100.0}
    assert settings["smoothed"] == {"tau": 1.0, "half_life": 7.0}


@pytest.mark.parametrize(("window", "known"), [(2010, 1.7234), (2011, 1.7351)])
def test_training_history_nll(window: int, known: float) -> None:
    assert round(score(retail(window), "training", "joint_nll"), 4) == known


@pytest.mark.parametrize(("window", "known"), [(2010, 4.40), (2011, 5.84)])
def test_four_week_mean_of_behavior_counts(window: int, known: float) -> None:
    fitted = retail(window).fits["weekday"]
    panel, split = fitted.panel, fitted.split
    origins = np.arange(split.validation_stop - 1, panel.days - 1)
    remembered = weekday_mean(panel, split, origins, 1, weeks=4)[0].sum((1, 2))
    recorded = panel.behavior_counts[origins + 1].sum((1, 2))
    assert round(np.abs(remembered @ behavior_bits(3) - recorded).mean(), 2) == known
