"""The dates a study runs over, and a data set cut to them.

A window names five dates that split days into warm-up, training, validation
and test, in that order and without gaps. The windows of the paper and the
late KuaiRand window are given here by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import cast

import polars as pl

from dgd.errors import InputError
from dgd.panel.panel import Panel
from dgd.tables.labels import Label
from dgd.tables.periods import Moment, period_named

DAY = timedelta(days=1)


@dataclass(frozen=True, init=False)
class Window:
    """Warm-up, training, validation and test days; every end is the last day of its part.

    **Arguments:**

    - `warmup_start`, `warmup_end`: the days from which cohorts, units and
        thresholds are fixed.
    - `train_end`, `validation_end`, `test_end`: the last days of the three parts that follow.
    - `name`: what tables and messages call the window.
    - `history`: first and last day of the history that fixes the cohorts, where
        that is not the warm-up itself.
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
        days = {field: _day(moment, f"window {field}") for field, moment in given.items()}
        known = (days["warmup_start"], days["warmup_end"])
        if history is not None:
            known = (
                _day(history[0], "window history start"),
                _day(history[1], "window history end"),
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

    @property
    def parts(self) -> dict[str, tuple[date, date]]:
        """First and last day of each part."""
        return {
            "warm-up": (self.warmup_start, self.warmup_end),
            "train": (self.warmup_end + DAY, self.train_end),
            "validation": (self.train_end + DAY, self.validation_end),
            "test": (self.validation_end + DAY, self.test_end),
        }


def _day(moment: Moment, name: str) -> date:
    return cast(date, period_named("day").parse(moment, name).astype(object))


RETAIL_WINDOWS: Mapping[int, Window] = {
    2010: Window(
        "2009-12-01", "2009-12-31", "2010-02-28", "2010-03-14", "2010-03-31", name="Retail 2010"
    ),
    2011: Window(
        "2010-12-01", "2010-12-31", "2011-02-28", "2011-03-14", "2011-03-31", name="Retail 2011"
    ),
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


@dataclass(frozen=True, eq=False)
class Dataset:
    """A panel from warm-up to test, with the dates to fit it by and how it was made.

    Fit it with `fit(ds.panel, warmup_end=ds.window.warmup_end,
    train_end=ds.window.train_end, validation_end=ds.window.validation_end)`.
    """

    panel: Panel
    window: Window
    report: pl.DataFrame
    """What each cleaning rule removed and kept, in the order the rules were applied."""
    thresholds: Mapping[str, float]
    """Warm-up medians above which a mark is set; empty where the log has its own marks."""
    summary_retention: float
    """The share of the history summaries that stays each day, as the paper sets it."""

    @property
    def sizes(self) -> dict[Label, float]:
        """Reference size of each cohort."""
        return dict(zip(self.panel.cohorts, self.panel.size[0, 0].tolist(), strict=True))

    @property
    def parts(self) -> pl.DataFrame:
        """Days and events of each part of the window."""
        rows = []
        for part, (first, last) in self.window.parts.items():
            begin, end = self.panel.place(first, part), self.panel.place(last, part) + 1
            events = int(self.panel.arrivals[begin:end].sum())
            rows.append((part, first, last, end - begin, events))
        return pl.DataFrame(rows, schema=["part", "first", "last", "days", "events"], orient="row")


class Tally:
    """Rows, and distinct values of one key column, that each rule removed and kept."""

    def __init__(self, key: str, noun: str) -> None:
        self._key = key
        self._noun = noun
        self._kept: list[tuple[str, int, int]] = []

    def keep(self, rule: str, table: pl.DataFrame) -> pl.DataFrame:
        """Write down what is left after `rule`, and hand the table on."""
        self._kept.append((rule, table.height, table[self._key].n_unique()))
        return table

    def report(self) -> pl.DataFrame:
        rows, keys = "rows_kept", f"{self._noun}_kept"
        table = pl.DataFrame(self._kept, schema=["rule", rows, keys], orient="row")
        return table.select(
            "rule",
            _lost(rows).alias("rows_removed"),
            rows,
            _lost(keys).alias(f"{self._noun}_removed"),
            keys,
        )


def _lost(kept: str) -> pl.Expr:
    return pl.col(kept).shift(1).fill_null(pl.col(kept)) - pl.col(kept)


def refuse_empty_parts(window: Window, days: pl.Series, column: str, noun: str) -> None:
    """Raise when a part of the window holds none of the `days` on which events fell."""
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
