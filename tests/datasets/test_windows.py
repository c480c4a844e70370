"""Windows split days into warm-up, training, validation and test."""

from datetime import date, datetime

import numpy as np
import polars as pl
import pytest

from dgd import InputError
from dgd.datasets import KUAIRAND_WINDOWS, RETAIL_WINDOWS, Window
from dgd.datasets.windows import refuse_empty_parts


def days(window: Window) -> dict[str, int]:
    return {part: (last - first).days + 1 for part, (first, last) in window.parts.items()}


@pytest.mark.parametrize("year", [2010, 2011])
def test_retail_windows_have_the_papers_days(year):
    assert days(RETAIL_WINDOWS[year]) == {"warm-up": 31, "train": 59, "validation": 14, "test": 17}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("standard", (9, 7, 10)), ("random", (4, 3, 7)), ("late", (5, 2, 4))],
)
def test_kuairand_windows_have_the_papers_days(name, expected):
    counted = days(KUAIRAND_WINDOWS[name])
    assert (counted["train"], counted["validation"], counted["test"]) == expected


def test_parts_follow_each_other_without_gaps():
    for window in (*RETAIL_WINDOWS.values(), *KUAIRAND_WINDOWS.values()):
        whole = (window.test_end - window.warmup_start).days + 1
        assert sum(days(window).values()) == whole


def test_random_cohorts_come_from_the_standard_log_before_the_random_one():
    assert KUAIRAND_WINDOWS["random"].history == (date(2022, 4, 8), date(2022, 4, 21))


def test_history_is_the_warm_up_unless_stated():
    assert KUAIRAND_WINDOWS["late"].history == (date(2022, 4, 25), date(2022, 4, 27))


def test_dates_may_be_text_dates_datetimes_or_numpy():
    mixed = Window(
        "2010-01-01",
        date(2010, 1, 31),
        datetime(2010, 2, 28),
        np.datetime64("2010-03-14"),
        "2010-03-31",
    )
    text = Window("2010-01-01", "2010-01-31", "2010-02-28", "2010-03-14", "2010-03-31")
    assert mixed == text


@pytest.mark.parametrize(
    ("dates", "message"),
    [
        (
            ("2010-02-01", "2010-01-31", "2010-02-28", "2010-03-14", "2010-03-31"),
            "warmup_end 2010-01-31 is before warmup_start 2010-02-01",
        ),
        (
            ("2010-01-01", "2010-01-31", "2010-01-31", "2010-03-14", "2010-03-31"),
            "train_end 2010-01-31 is not after warmup_end 2010-01-31",
        ),
        (
            ("2010-01-01", "2010-01-31", "2010-02-28", "2010-02-14", "2010-03-31"),
            "validation_end 2010-02-14 is not after train_end 2010-02-28",
        ),
        (
            ("2010-01-01", "2010-01-31", "2010-02-28", "2010-03-14", "2009-03-31"),
            "test_end 2009-03-31 is not after validation_end 2010-03-14",
        ),
        (
            ("2010-01-01", "2010-01-31", "2010-02-30", "2010-03-14", "2010-03-31"),
            'window train_end "2010-02-30" is not a date',
        ),
    ],
)
def test_dates_out_of_order_are_named(dates, message):
    with pytest.raises(InputError, match=message):
        Window(*dates)


@pytest.mark.parametrize(
    ("history", "message"),
    [
        (("2010-01-20", "2010-01-10"), "history ends 2010-01-10 before it starts 2010-01-20"),
        (("2010-01-01", "2010-02-01"), "after warmup_end 2010-01-31"),
    ],
)
def test_history_may_not_reach_into_training(history, message):
    with pytest.raises(InputError, match=message):
        Window(
            "2010-01-01", "2010-01-31", "2010-02-28", "2010-03-14", "2010-03-31", history=history
        )


def test_a_part_without_events_is_named_with_what_there_is():
    window = Window("2010-01-01", "2010-01-02", "2010-01-03", "2010-01-04", "2010-01-05")
    seen = pl.Series([date(2010, 1, 1), date(2010, 1, 3), date(2010, 1, 5)])
    with pytest.raises(
        InputError,
        match="InvoiceDate has none of its 3 invoices in the validation range 2010-01-04 to "
        "2010-01-04 of window custom; they run from 2010-01-01 to 2010-01-05",
    ):
        refuse_empty_parts(window, seen, "InvoiceDate", "invoices")


def test_no_events_at_all_is_said_as_such():
    window = Window("2010-01-01", "2010-01-02", "2010-01-03", "2010-01-04", "2010-01-05")
    with pytest.raises(InputError, match="no exposures are left"):
        refuse_empty_parts(window, pl.Series([], dtype=pl.Date), "time_ms", "exposures")
