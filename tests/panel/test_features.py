"""Features know the calendar, look only back, and are scaled on the training days."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.learning.starts import reference_rates
from dgd.panel.features import (
    FeatureMaker,
    Scaling,
    calendar_marks,
    calendar_names,
    choose_calendar,
)
from dgd.panel.panel import Panel
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.split import Split
from dgd.tables.periods import PERIODS

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SPLIT = Split(first=7, train_stop=28, validation_stop=35)


def fitted(panel: Panel, split: Split = SPLIT, calendar: str = "weekday") -> FeatureMaker:
    return FeatureMaker.fitted(panel, split, reference_rates(panel, split.warmup), calendar, 0.8)


def with_feature(panel: Panel, values: np.ndarray) -> Panel:
    """`panel` with one feature of its own, the same everywhere on a day."""
    grid = np.broadcast_to(values[:, None, None, None], (*panel.effort.shape, 1)).copy()
    return replace(panel, features=grid, feature_names=("price",))


@pytest.mark.parametrize("first", ["1969-12-25", "2000-02-27", "2022-04-21"])
def test_weekday_marks_agree_with_the_calendar(first: str) -> None:
    dates = PERIODS["day"].range(np.datetime64(first), 15)
    marks = calendar_marks(dates, "weekday")
    start = date.fromisoformat(first)
    names = calendar_names("weekday")
    for row, marked in enumerate(marks):
        weekday = (start + timedelta(days=row)).weekday()
        expected = [float(WEEKDAYS[weekday] == name) for name in names]
        assert marked.tolist() == expected


def test_hours_are_marked_by_waves_that_repeat_daily() -> None:
    dates = PERIODS["hour"].range(np.datetime64("2022-04-21T00"), 48)
    marks = calendar_marks(dates, "hour")
    assert marks.shape == (48, len(calendar_names("hour")))
    assert np.allclose(marks[:24], marks[24:])
    assert np.allclose(marks[6, :2], [1.0, 0.0]), "a quarter of a day is the sine's peak"
    assert len(np.unique(marks[:24].round(9), axis=0)) == 24


def test_both_calendars_together_hold_the_marks_of_each() -> None:
    dates = PERIODS["hour"].range(np.datetime64("2022-04-21T00"), 30)
    both = calendar_marks(dates, "weekday and hour")
    apart = [calendar_marks(dates, "weekday"), calendar_marks(dates, "hour")]
    assert np.array_equal(both, np.concatenate(apart, axis=1))
    assert both.shape[1] == len(calendar_names("weekday and hour"))


def test_no_calendar_means_no_marks() -> None:
    assert calendar_marks(np.array(["2022-04-21"], "M8[D]"), "none").shape == (1, 0)
    assert calendar_names("none") == ()


@pytest.mark.parametrize("day", [0, 10, 39])
def test_summaries_use_only_counts_before_the_day(drawn: dgd.Simulated, day: int) -> None:
    panel = drawn.panel
    maker = fitted(panel)
    before = maker.summaries(panel)
    changed = panel.patterns.copy()
    changed[day] += 100
    after = maker.summaries(replace(panel, counts=PatternCounts.of(changed)))
    assert np.array_equal(after[: day + 1], before[: day + 1])
    assert (after[day + 1, ..., 0] > before[day + 1, ..., 0]).all(), "the next day knows of them"


def test_summaries_reach_the_day_after_the_last(drawn: dgd.Simulated) -> None:
    summaries = fitted(drawn.panel).summaries(drawn.panel)
    assert len(summaries) == drawn.panel.days + 1
    assert summaries.shape[-1] == 1 + len(drawn.panel.behaviors)


def test_the_first_summaries_come_from_the_warm_up_alone(drawn: dgd.Simulated) -> None:
    panel = drawn.panel
    changed = panel.patterns.copy()
    changed[7:] += 100
    later = replace(panel, counts=PatternCounts.of(changed))
    assert np.array_equal(fitted(panel).first_arrivals, fitted(later).first_arrivals)
    assert np.array_equal(fitted(panel).first_arrivals, panel.arrivals[:7].mean(0))


def test_features_have_mean_zero_and_unit_spread_on_training_days(drawn: dgd.Simulated) -> None:
    panel = with_feature(drawn.panel, np.arange(40.0) ** 2)
    maker = fitted(panel)
    known = maker.known(panel, panel.known_dates, panel.features)
    for features in (known, maker.summaries(panel)):
        training = features[SPLIT.train].reshape(-1, features.shape[-1])
        assert np.allclose(training.mean(0), 0.0, atol=1e-9)
        assert np.allclose(training.std(0), 1.0)


def test_later_days_do_not_move_the_scaling(drawn: dgd.Simulated) -> None:
    values = np.arange(40.0)
    later = np.where(np.arange(40) < SPLIT.train_stop, values, 1e6)
    scalings = [fitted(with_feature(drawn.panel, v)).known_scaling for v in (values, later)]
    assert np.array_equal(scalings[0].center, scalings[1].center)
    assert np.array_equal(scalings[0].scale, scalings[1].scale)


def test_a_feature_constant_in_training_contributes_nothing(drawn: dgd.Simulated) -> None:
    values = np.where(np.arange(40) < SPLIT.train_stop, 3.0, 50.0)
    panel = with_feature(drawn.panel, values)
    known = fitted(panel).known(panel, panel.known_dates, panel.features)
    assert (known[..., -1] == 0.0).all()


def test_scaling_is_undone_by_its_own_center_and_scale() -> None:
    features = np.random.default_rng(1).normal(5.0, 3.0, (10, 2, 3, 4))
    scaling = Scaling.of(features, slice(2, 8))
    assert np.allclose(scaling.apply(features) * scaling.scale + scaling.center, features)


def test_every_feature_the_model_sees_has_a_name(drawn: dgd.Simulated) -> None:
    panel = with_feature(drawn.panel, np.arange(40.0))
    maker = fitted(panel)
    names = maker.names(panel)
    known = maker.known(panel, panel.known_dates, panel.features)
    assert len(names) == known.shape[-1] + maker.summaries(panel).shape[-1]
    assert names[known.shape[-1] - 1] == "price"
    assert names[-1] == "recent share rate"


def panel_of(period: str, count: int) -> Panel:
    dates = PERIODS[period].range(np.datetime64("2022-01-03"), count)
    counts = pl.DataFrame(
        [
            PERIODS[period].series("date", dates),
            pl.Series("click", np.arange(count) % 2),
            pl.Series("count", np.full(count, 5)),
        ]
    )
    return Panel.from_counts(counts, unit=None, cohort=None, behaviors=["click"], period=period)


@pytest.mark.parametrize(
    ("period", "training", "calendar"),
    [
        ("day", 13, "none"),
        ("day", 14, "weekday"),
        ("week", 30, "none"),
        ("hour", 24 * 14 - 1, "hour"),
        ("hour", 24 * 14, "weekday and hour"),
    ],
)
def test_auto_learns_weekdays_from_two_weeks_on(period: str, training: int, calendar: str) -> None:
    panel = panel_of(period, training + 2)
    split = Split(0, training, training + 1)
    assert choose_calendar(panel, split) == calendar
    assert fitted(panel, split, "auto").calendar == calendar
