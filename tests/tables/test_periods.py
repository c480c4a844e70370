"""Steps of time are counted, read and written alike for hours, days and weeks."""

from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dgd
from dgd.tables.periods import PERIODS, period_named

STEPS = {
    "hour": np.timedelta64(1, "h"),
    "day": np.timedelta64(24, "h"),
    "week": np.timedelta64(7, "D"),
}


@pytest.mark.parametrize("name", STEPS)
def test_consecutive_moments_are_one_step_apart(name: str) -> None:
    moments = PERIODS[name].range(np.datetime64("2022-02-26"), 30)
    assert len(moments) == 30
    assert moments[0] == np.datetime64("2022-02-26")
    assert (np.diff(moments) == STEPS[name]).all()


@pytest.mark.parametrize(
    "given",
    [
        "2022-04-21",
        date(2022, 4, 21),
        datetime(2022, 4, 21),
        np.datetime64("2022-04-21"),
        np.datetime64("2022-04-21T00:00:00.000000000"),
        pd.Timestamp("2022-04-21"),
    ],
    ids=lambda given: type(given).__name__,
)
@pytest.mark.parametrize("name", PERIODS)
def test_a_moment_may_be_given_in_any_usual_form(name: str, given: object) -> None:
    parsed = PERIODS[name].parse(given, "train_end")
    assert parsed == np.datetime64("2022-04-21")
    assert parsed.dtype == np.dtype(f"datetime64[{PERIODS[name].unit}]")


def test_an_hour_keeps_its_time_of_day() -> None:
    assert PERIODS["hour"].parse("2022-04-21T17", "origin") == np.datetime64("2022-04-21T17")


@pytest.mark.parametrize("given", ["soon", "21.04.2022", "2022-13-01", "NaT"])
def test_what_is_not_a_date_is_refused_by_name_and_value(given: str) -> None:
    with pytest.raises(dgd.InputError) as refusal:
        PERIODS["day"].parse(given, "train_end")
    assert str(refusal.value) == f'train_end "{given}" is not a date; write it like 2022-04-21.'


@pytest.mark.parametrize(
    ("name", "dtype"), [("hour", pl.Datetime("us")), ("day", pl.Date()), ("week", pl.Date())]
)
def test_moments_become_dates_or_datetimes(name: str, dtype: pl.DataType) -> None:
    period = PERIODS[name]
    moments = period.range(np.datetime64("2022-01-01"), 3)
    column = period.series("when", moments)
    assert column.name == "when"
    assert column.dtype == dtype
    assert (column.to_numpy() == moments).all()


def test_an_unknown_period_is_refused_with_the_choices() -> None:
    with pytest.raises(dgd.InputError, match='"month" is not known; choose hour, day or week'):
        period_named("month")
