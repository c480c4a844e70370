"""The one group-by that counts a log: rows per moment, unit, cohort, context and pattern.

While it runs, a joint pattern is one number in base 4, a digit per behaviour: 0, 1, or
`NEITHER` for what is missing or anything else. Bad behaviours so end up in groups of
their own, and a clean log needs no second pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import narwhals as nw
import polars as pl

from dgd.counting.behaviors import NEITHER, behavior_code, refuse_behavior
from dgd.counting.engines import ROWS
from dgd.counting.local_time import LOCAL, local_day
from dgd.errors import InputError
from dgd.tables.periods import Period

DAY, HOUR, PATTERN = "__dgd_day__", "__dgd_hour__", "__dgd_pattern__"
LATEST = "__dgd_latest__"
"""The hour of the last event of a group, where days are counted of times."""


@dataclass(frozen=True)
class Grouping:
    """By what events are told apart: labels, context, behaviours and the step of time."""

    labels: Mapping[str, str | None]
    """The log's own columns for "unit" and "cohort"; `None` where there is one of all."""
    context: Sequence[str]
    behaviors: Sequence[str]
    period: Period

    @property
    def columns(self) -> list[str]:
        """The columns of the log that are needed."""
        named = [column for column in self.labels.values() if column is not None]
        return [*named, *self.context, *self.behaviors]

    def group(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Rows of each group; the frame has its local time beside it."""
        schema = frame.collect_schema()
        codes = [behavior_code(b, schema) * 4**h for h, b in enumerate(self.behaviors)]
        keys = {
            DAY: local_day(schema),
            PATTERN: reduce(add, codes),
            **{name: nw.col(column) for name, column in self.labels.items() if column is not None},
            **{name: nw.col(name) for name in self.context},
        }
        if self.period.name == "hour":
            keys[HOUR] = nw.col(LOCAL).dt.hour()
        found = [nw.len().alias(ROWS)]
        values = {}
        if self.period.name == "day" and isinstance(schema[LOCAL], nw.Datetime):
            values[LATEST] = nw.col(LOCAL).dt.hour()
            found.append(nw.col(LATEST).max())
        return frame.select(**keys, **values).group_by(list(keys)).agg(*found)

    def refuse_hours_of_dates(self, frame: nw.LazyFrame[Any], column: str) -> None:
        """Raise where hours are asked of a time column that holds dates."""
        if self.period.name == "hour" and frame.collect_schema()[column] == nw.Date:
            raise InputError(
                f'events column {column} holds dates, which have no hours; choose period="day".'
            )

    def refuse_behaviors(self, groups: pl.DataFrame, frame: nw.LazyFrame[Any]) -> None:
        """Raise for the first behaviour that is somewhere neither 0 nor 1."""
        for h, behavior in enumerate(self.behaviors):
            if groups.select((_digit(h) == NEITHER).any()).item():
                refuse_behavior(frame, "events", behavior)

    @property
    def moment(self) -> pl.Expr:
        """The start of the period into which a group falls."""
        if self.period.name == "week":
            return pl.col(DAY).dt.truncate("1w")
        if self.period.name == "hour":
            return pl.col(DAY).cast(pl.Datetime("us")) + pl.duration(hours=pl.col(HOUR))
        return pl.col(DAY)

    def spread(self, groups: pl.DataFrame, count: str) -> pl.DataFrame:
        """Patterns as 0/1 columns, days as periods, one sorted row per pattern and cell."""
        digits = [_digit(h).cast(pl.Int64).alias(b) for h, b in enumerate(self.behaviors)]
        keys = ["date", "unit", "cohort", *self.context, *self.behaviors]
        return (
            groups.select(self.moment.alias("date"), "unit", "cohort", *self.context, *digits, ROWS)
            .group_by(keys)
            .agg(pl.col(ROWS).sum().cast(pl.Int64).alias(count))
            .sort(keys)
        )


def _digit(h: int) -> pl.Expr:
    """The digit of behaviour h in the pattern."""
    return pl.col(PATTERN) // 4**h % 4
