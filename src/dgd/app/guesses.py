"""What the columns of a table probably are, and which tables beside it belong to it.

A guess is what a form starts from; a person says what is right.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

import polars as pl

DATES = ("date", "day", "week", "hour", "time", "timestamp", "ds")
UNITS = ("unit", "store", "shop", "region", "site", "channel", "country", "market", "tab")
COHORTS = ("cohort", "segment", "group", "audience", "customers", "type")
COUNTS = ("count", "counts", "n", "number", "arrivals", "events", "visits", "users")
MOST_LABELS = 60
"""A column with more values is hardly a unit or a cohort."""
LOOKED_AT = 2000
"""Rows in which dates are looked for."""
BESIDE = ("sizes", "effort", "features", "special")


@dataclass(frozen=True)
class Guess:
    """A column for each part, or none."""

    date: str | None
    unit: str | None
    cohort: str | None
    count: str | None
    behaviors: tuple[str, ...]
    period: str

    @property
    def counted(self) -> bool:
        """Whether the table looks like one of counts at all."""
        return bool(self.date and self.count and self.behaviors)


def guessed(table: pl.DataFrame) -> Guess:
    """By their names first, then by what they hold."""
    names = table.columns
    date = _named(names, DATES) or next((name for name in names if _is_date(table[name])), None)
    behaviors = tuple(name for name in names if name != date and _is_zero_one(table[name]))
    left = [name for name in names if name not in (date, *behaviors)]
    numeric = [name for name in left if _is_whole(table[name])]
    count = _named(left, COUNTS) or (numeric[-1] if numeric else None)
    left = [name for name in left if name != count]
    cohort, unit = _named(left, COHORTS), _named(left, UNITS)
    few = [
        name
        for name in left
        if name not in (cohort, unit) and table[name].n_unique() <= MOST_LABELS
    ]
    if cohort is None and few:
        cohort = few.pop(0)
    if unit is None and few:
        unit = few.pop(0)
    period = "day" if date is None else _period(table[date])
    return Guess(date, unit, cohort, count, behaviors, period)


def belonging(counts: str, others: Iterable[str]) -> dict[str, str]:
    """Tables beside that of counts whose names say what they hold."""
    place = PurePosixPath(counts).parent
    near = {PurePosixPath(name).stem.lower(): name for name in others if _in(name, place)}
    return {part: near[part] for part in BESIDE if part in near}


def _in(name: str, place: PurePosixPath) -> bool:
    return PurePosixPath(name).parent == place


def _named(columns: Iterable[str], known: Iterable[str]) -> str | None:
    lower = {name.lower(): name for name in columns}
    return next((lower[name] for name in known if name in lower), None)


def _is_date(column: pl.Series) -> bool:
    if column.dtype.is_temporal():
        return True
    if column.dtype != pl.String:
        return False
    some = column.head(LOOKED_AT).drop_nulls()
    return bool(len(some)) and some.str.contains(r"^\d{4}-\d{2}-\d{2}").all()


def _is_zero_one(column: pl.Series) -> bool:
    found = column.drop_nulls().unique()
    if column.dtype == pl.Boolean:
        return True
    if column.dtype == pl.String:
        return bool(len(found)) and set(found.head(3)) <= {"0", "1"}
    return column.dtype.is_numeric() and bool(len(found)) and set(found.head(3)) <= {0, 1}


def _is_whole(column: pl.Series) -> bool:
    if column.dtype == pl.String:
        some = column.head(LOOKED_AT).drop_nulls()
        return bool(len(some)) and some.str.contains(r"^\d+(\.0*)?$").all()
    return column.dtype.is_numeric()


def _period(column: pl.Series) -> str:
    """Hours where times are told, weeks where dates are whole weeks apart, else days."""
    some = column.drop_nulls().unique()
    if column.dtype == pl.String:
        if some.head(LOOKED_AT).str.contains(r"\d{2}:\d{2}").any():
            return "hour"
        days = some.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False).drop_nulls()
    elif column.dtype == pl.Datetime:
        if (some.dt.hour() != 0).any():
            return "hour"
        days = some.dt.date()
    elif column.dtype == pl.Date:
        days = some
    else:
        return "day"
    apart = days.unique().sort().diff().drop_nulls().dt.total_days()
    return "week" if len(apart) and (apart % 7 == 0).all() else "day"
