"""The dates a study runs over.

A window names five dates that split days into warm-up, training, validation
and test, in that order and without gaps. The windows of the paper and those
of the accuracy arena are given here by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate, pairwise
from typing import TypeVar, cast

import polars as pl

from dgd.counting.day_range import read_day
from dgd.errors import InputError
from dgd.tables.periods import Moment

ONE_DAY = timedelta(days=1)
Key = TypeVar("Key", str, int)


@dataclass(frozen=True, init=False)
class Window:
    """Warm-up, training, validation and test days; every end is the last day of its part.

    Args:
        warmup_start: First of the days from which cohorts, units and thresholds are fixed.
        warmup_end: Last of these days.
        train_end: Last training day.
        validation_end: Last validation day.
        test_end: Last test day.
        name: What tables and messages call the window.
        history: First and last day of the history that fixes the cohorts, where
            that is not the warm-up itself.

    Raises:
        InputError: The dates are not in that order.
    """

    warmup_start: date
    warmup_end: date
    train_end: date
    validation_end: date
    test_end: date
    name: str
    history: tuple[date, date]

    def __init__(
        self,
        warmup_start: Moment,
        warmup_end: Moment,
        train_end: Moment,
        validation_end: Moment,
        test_end: Moment,
        *,
        name: str = "custom",
        history: tuple[Moment, Moment] | None = None,
    ) -> None:
        given = {
            "warmup_start": warmup_start,
            "warmup_end": warmup_end,
            "train_end": train_end,
            "validation_end": validation_end,
            "test_end": test_end,
        }
        days = {field: read_day(moment, f"window {field}") for field, moment in given.items()}
        known = (days["warmup_start"], days["warmup_end"])
        if history is not None:
            known = (
                read_day(history[0], "window history start"),
                read_day(history[1], "window history end"),
            )
        for field, value in {**days, "name": name, "history": known}.items():
            object.__setattr__(self, field, value)
        self._check_order()

    def _check_order(self) -> None:
        if self.warmup_start > self.warmup_end:
            raise InputError(
                f"window warmup_end {self.warmup_end} is before warmup_start "
                f"{self.warmup_start}; give the warm-up at least one day."
            )
        ends = ("warmup_end", "train_end", "validation_end", "test_end")
        for earlier, later in pairwise(ends):
            if getattr(self, later) <= getattr(self, earlier):
                raise InputError(
                    f"window {later} {getattr(self, later)} is not after {earlier} "
                    f"{getattr(self, earlier)}; order the dates warm-up, train, validation, test."
                )
        first, last = self.history
        if first > last:
            raise InputError(
                f"window history ends {last} before it starts {first}; swap the two dates."
            )
        if last > self.warmup_end:
            raise InputError(
                f"window history ends {last}, after warmup_end {self.warmup_end}; cohorts must "
                "be fixed before training starts."
            )

    @staticmethod
    def of_days(
        first: Moment, warmup: int, train: int, validation: int, test: int, *, name: str
    ) -> "Window":
        """The window that begins on `first` and whose parts have so many days."""
        begin = read_day(first, "window first day")
        lengths = accumulate((warmup, train, validation, test))
        ends = [begin + timedelta(days=days - 1) for days in lengths]
        return Window(begin, *ends, name=name)

    @property
    def parts(self) -> dict[str, tuple[date, date]]:
        """First and last day of each part."""
        return {
            "warm-up": (self.warmup_start, self.warmup_end),
            "train": (self.warmup_end + ONE_DAY, self.train_end),
            "validation": (self.train_end + ONE_DAY, self.validation_end),
            "test": (self.validation_end + ONE_DAY, self.test_end),
        }


SHORT = (5, 10, 6, 10)
"""Days of each part of a short window, where little is known before forecasts begin."""

RETAIL_WINDOWS: Mapping[int, Window] = {
    2010: Window(
        "2009-12-01", "2009-12-31", "2010-02-28", "2010-03-14", "2010-03-31", name="Retail 2010"
    ),
    2011: Window(
        "2010-12-01", "2010-12-31", "2011-02-28", "2011-03-14", "2011-03-31", name="Retail 2011"
    ),
}

RETAIL_MONTHS: Mapping[str, Window] = {
    month: Window(*dates, name=f"Retail {month} 2010")
    for month, dates in {
        "May": ("2010-02-01", "2010-02-28", "2010-04-30", "2010-05-14", "2010-05-31"),
        "July": ("2010-04-01", "2010-04-30", "2010-06-30", "2010-07-14", "2010-07-31"),
        "September": ("2010-06-01", "2010-06-30", "2010-08-31", "2010-09-14", "2010-09-30"),
        "November": ("2010-08-01", "2010-08-31", "2010-10-31", "2010-11-14", "2010-11-30"),
    }.items()
}
"""Further windows of the paper's shape within the first sheet of the workbook, by test month."""

RETAIL_SHORT: Mapping[str, Window] = {
    "May": Window.of_days("2010-05-03", *SHORT, name="Retail short May 2010"),
    "September": Window.of_days("2010-09-06", *SHORT, name="Retail short September 2010"),
}
"""Short windows within the first sheet of the workbook, by the month in which they begin."""

FLIGHT_WINDOWS: Mapping[str, Window] = {
    "winter": Window.of_days("2013-01-15", 28, 56, 14, 21, name="Flights winter"),
    "autumn": Window.of_days("2013-08-01", 28, 56, 14, 21, name="Flights autumn"),
    "short March": Window.of_days("2013-03-04", *SHORT, name="Flights short March"),
    "short October": Window.of_days("2013-10-07", *SHORT, name="Flights short October"),
}

HOTEL_WINDOWS: Mapping[str, Window] = {
    "2016": Window.of_days("2016-02-01", 28, 84, 14, 28, name="Hotels 2016"),
    "2017": Window.of_days("2017-01-10", 28, 84, 14, 28, name="Hotels 2017"),
    "short 2016": Window.of_days("2016-05-02", *SHORT, name="Hotels short 2016"),
    "short 2017": Window.of_days("2017-03-06", *SHORT, name="Hotels short 2017"),
}

JOURNEY_WINDOWS: Mapping[str, Window] = {
    "2017": Window.of_days("2017-02-01", 28, 84, 14, 28, name="Complete Journey"),
}

STOP_WINDOWS: Mapping[str, Window] = {
    "autumn": Window.of_days("2017-07-10", 21, 70, 14, 28, name="Stops autumn"),
    "short March": Window.of_days("2017-03-06", *SHORT, name="Stops short March"),
}

BAKERY_WINDOWS: Mapping[str, Window] = {
    "winter": Window.of_days("2016-11-07", 21, 84, 14, 28, name="Bakery"),
}

KUAIRAND_WINDOWS: Mapping[str, Window] = {
    "standard": Window(
        "2022-04-08", "2022-04-12", "2022-04-21", "2022-04-28", "2022-05-08", name="standard"
    ),
    "random": Window(
        "2022-04-22", "2022-04-24", "2022-04-28", "2022-05-01", "2022-05-08", name="random",
        history=("2022-04-08", "2022-04-21"),
    ),
    "late": Window(
        "2022-04-25", "2022-04-27", "2022-05-02", "2022-05-04", "2022-05-08", name="late"
    ),
}  # fmt: skip


def window_named(name: Key, windows: Mapping[Key, Window]) -> Window:
    """The window of that name among those that a data set offers."""
    if name not in windows:
        shown = f'"{name}"' if isinstance(name, str) else name
        raise InputError(
            f"window {shown} is not one of {', '.join(map(str, windows))}; choose one or hand "
            "over a dgd.datasets.Window."
        )
    return windows[name]


def refuse_empty_parts(window: Window, days: pl.Series, column: str, noun: str) -> None:
    """Raise when a part of the window holds none of the `days` on which events fell.

    Args:
        window: The window that the events are to fill.
        days: The day of every event.
        column: The column of the file that the days were read from.
        noun: What the events are called.

    Raises:
        InputError: There are no events at all, or none in one of the parts.
    """
    if len(days) == 0:
        raise InputError(
            f"no {noun} are left for window {window.name} after the cleaning rules, so column "
            f"{column} has no dates; check the file and the choice of users."
        )
    first, last = cast(date, days.min()), cast(date, days.max())
    for part, (begin, end) in window.parts.items():
        if not days.is_between(begin, end).any():
            raise InputError(
                f"column {column} has none of its {len(days):,} {noun} in the {part} range "
                f"{begin} to {end} of window {window.name}; they run from {first} to {last}: "
                "choose dates in that range."
            )
