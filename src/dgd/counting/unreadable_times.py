"""The sentence about times that a clock cannot read."""

from typing import Any, NoReturn

import narwhals as nw
import polars as pl

from dgd.counting.local_time import LOCAL, WALL_TEXT
from dgd.counting.refusals import look_at, refuse_missing
from dgd.errors import InputError
from dgd.tables.clock import Clock


def refuse_unreadable(frame: nw.LazyFrame[Any], clock: Clock, table: str) -> NoReturn:
    """Raise for the rows of `frame` that have no local time, counting them."""
    bad = look_at(frame.filter(nw.col(LOCAL).is_null()), clock.column)
    if bad.rows == bad.missing:
        refuse_missing(table, clock.column, bad.missing)
    raise InputError(
        f"{table} column {clock.column}: {bad.shown} is not a time dgd can read, {bad.counted}; "
        f"{_way_out(clock, bad.example)}"
    )


def _way_out(clock: Clock, example: Any) -> str:
    if clock.time_unit is not None:
        return (
            f'check time_unit="{clock.time_unit}" of its Clock: it must fall between 1900 and 2199.'
        )
    if clock.timezone is None:
        return (
            'write dates like 2022-04-21, or give its Clock timezone="Europe/Berlin" or another '
            "zone for times of day."
        )
    timed = isinstance(example, str) and pl.Series([example]).str.contains(WALL_TEXT)[0]
    if timed and clock.stored_in is None:
        zones = dict.fromkeys(("UTC", clock.timezone))
        said = " or ".join(f'stored_in="{zone}"' for zone in zones)
        return f"say {said} in its Clock, as it names no zone."
    return "write it like 2022-04-21 13:45:00 or 2022-04-21T13:45:00Z."
