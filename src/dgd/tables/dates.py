"""Dates as tables hold them, refused where they would be misread."""

import numpy as np
import polars as pl

from dgd.errors import InputError
from dgd.tables.periods import Moment, Period
from dgd.tables.refusing import ROW, refuse, require_columns

ISO = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?$"
WAY_OUT = "is not a date; write dates like 2022-04-21."
FIRST_YEAR = 1000
"""Earlier years are years written with two digits."""
LONGEST_GAP, GAP_TO_DATES = 100, 3
"""A gap is out of proportion beyond so many periods and so many times the dates there are."""
DATES_TO_TELL = 5
"""Fewer dates cannot tell a weekly table from a daily one with gaps."""


def read_dates(
    table: pl.DataFrame,
    name: str,
    column: str,
    period: Period,
    ends: tuple[Moment | None, Moment | None] = (None, None),
) -> pl.DataFrame:
    """Turn `column` into moments of `period`: dates, or naive datetimes for hours.

    Where the first and last date were both named as `ends`, gaps between them are meant.
    """
    require_columns(table, name, [column])
    dtype = table.schema[column]
    raw = pl.col(column)
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        table = table.with_columns(raw.dt.replace_time_zone(None))
    elif dtype == pl.String:
        table = _parsed(table, name, column)
    elif dtype != pl.Date and not isinstance(dtype, pl.Datetime):
        refuse(table, name, column, pl.lit(True), WAY_OUT)
    refuse(table, name, column, raw.is_null(), "is not a date; fill it in or drop the row.")
    early = raw.dt.year() < FIRST_YEAR
    refuse(table, name, column, early, "lies before the year 1000; write years with four digits.")
    if dtype != pl.Date:
        moments = pl.col(column).cast(pl.Datetime("us"))
        start = moments.dt.truncate("1h" if period.unit == "h" else "1d")
        refuse(
            table, name, column, moments != start,
            f"is not the start of {_a(period)}; sum the counts per {period.name} first.",
        )  # fmt: skip
        table = table.with_columns(start)
    table = table.with_columns(raw.cast(period.series("", np.array([], "M8[D]")).dtype))
    _refuse_far_dates(table, name, column, period, ends)
    return table


def _parsed(table: pl.DataFrame, name: str, column: str) -> pl.DataFrame:
    text = pl.col(column).str.strip_chars()
    parsed = pl.coalesce(
        text.str.to_datetime(format, strict=False, time_unit="us")
        for format in ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M")
    )
    read = pl.when(text.str.contains(ISO)).then(parsed)
    wrong = pl.col(column).is_not_null() & read.is_null()
    refuse(table, name, column, wrong, WAY_OUT)
    return table.with_columns(read.alias(column))


def _a(period: Period) -> str:
    return f"an {period.name}" if period.name == "hour" else f"a {period.name}"


def _refuse_far_dates(
    table: pl.DataFrame,
    name: str,
    column: str,
    period: Period,
    ends: tuple[Moment | None, Moment | None],
) -> None:
    """Refuse a date so far from the others that it must be a slip of the pen."""
    moments = distinct_dates(table, column, period)
    found = far_date(moments, period)
    if found is None or _between(moments, period, *ends):
        return
    lonely, gap = found
    rows = table.filter(pl.col(column) == period.series("", np.array([lonely]))[0])
    raise InputError(
        f"{name} row {rows[ROW][0]}, column {column}: {lonely} lies {gap:,} "
        f"{period.name}s from the next date in a table of {len(moments)} dates; correct it, or "
        "hand over only the part that belongs together."
    )


def far_date(moments: np.ndarray, period: Period) -> tuple[np.datetime64, int] | None:
    """The date among sorted ones that lies out of proportion far from the next, and how far."""
    gaps = np.diff(moments) / period.step
    if not len(gaps) or gaps.max() <= max(LONGEST_GAP, GAP_TO_DATES * len(moments)):
        return None
    widest = int(gaps.argmax())
    before = widest + 1 <= len(moments) // 2
    return moments[widest if before else widest + 1], int(gaps[widest])


def _between(moments: np.ndarray, period: Period, start: Moment | None, end: Moment | None) -> bool:
    """Whether both ends were named and all moments lie between them."""
    if start is None or end is None:
        return False
    first, last = period.parse(start, "start"), period.parse(end, "end")
    return bool(first <= moments[0] and moments[-1] <= last)


def refuse_sparse_dates(table: pl.DataFrame, name: str, column: str, period: Period) -> None:
    """Refuse a table whose dates all lie a week or more apart but which is read by days."""
    moments = distinct_dates(table, column, period)
    if len(moments) < DATES_TO_TELL or period.name == "week":
        return
    gaps = np.diff(moments)
    unless = (
        "; where dates without rows are empty, name the first and last date with start= and end="
    )
    week, day = np.timedelta64(7, "D"), np.timedelta64(1, "D")
    if period.name == "hour":
        if gaps.min() >= day and not np.any((moments - moments[0]) % day):
            raise InputError(
                f'{name} has one row a day at most in column {column}; say period="day"{unless}.'
            )
    elif not np.any(gaps % week):
        raise InputError(
            f"{name}: all {len(moments)} dates in column {column} lie whole weeks apart; say "
            f'period="week"{unless}.'
        )
    elif gaps.min() >= week:
        raise InputError(
            f"{name}: no two dates in column {column} are less than {gaps.min() // day} days "
            f"apart; give counts by day or by week{unless}."
        )


def distinct_dates(table: pl.DataFrame, column: str, period: Period) -> np.ndarray:
    """The dates there are, in order."""
    moments = table[column].unique().to_numpy().astype(f"datetime64[{period.unit}]")
    return np.unique(moments)
