"""The last day or week of a log that ends in the middle of it.

A log that is exported at noon has half of its last day, and a forecast would take it for a
whole one. It shows in the events themselves: the last day ends hours before every day of the
weeks before it did, or the last week on an earlier weekday than every week before it.
"""

from datetime import date

import polars as pl

from dgd.counting.pattern_groups import DAY, LATEST
from dgd.tables.periods import Period

DAYS_TO_TELL, DAYS_LOOKED_AT = 7, 28
WEEKS_LOOKED_AT = 4
HOURS_EARLIER = 2
"""How much earlier than the earliest end of a day before it the last day must have ended."""


def unfinished_from(groups: pl.DataFrame, period: Period) -> date | None:
    """The first day of the last period where that period is not over, or None."""
    if period.name == "week":
        return _unfinished_week(groups)
    if period.name == "day" and LATEST in groups.columns:
        return _unfinished_day(groups)
    return None


def _unfinished_day(groups: pl.DataFrame) -> date | None:
    ends = groups.group_by(DAY).agg(pl.col(LATEST).max()).sort(DAY)
    before, last = ends[-DAYS_LOOKED_AT - 1 : -1], ends.row(-1, named=True)
    if before.height < DAYS_TO_TELL:
        return None
    earliest = before[LATEST].min()
    late_enough = isinstance(earliest, int) and last[LATEST] > earliest - HOURS_EARLIER
    return None if late_enough else _date(last[DAY])


def _unfinished_week(groups: pl.DataFrame) -> date | None:
    days = groups.select(DAY).unique().with_columns(pl.col(DAY).dt.truncate("1w").alias("week"))
    ends = days.group_by("week").agg((pl.col(DAY).max() - pl.col("week").first()).alias("end"))
    ends = ends.sort("week")
    before, last = ends[-WEEKS_LOOKED_AT - 1 : -1], ends.row(-1, named=True)
    if before.height == 0 or last["end"] >= before["end"].min():
        return None
    return _date(last["week"])


def _date(found: object) -> date:
    assert isinstance(found, date)  # a column of days holds nothing else
    return found
