"""The day on which something happened, in the zone its clock names, on any engine.

Engines differ in how their session's zone leaks into timestamps. Here every
instant becomes UTC microseconds (or a UTC timestamp in Polars) and from there
the wall clock of the zone asked for; the session's zone is neither read nor set.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import narwhals as nw

from dgd.counting.dialects import DIALECTS, Dialect
from dgd.counting.engines import engine_of
from dgd.errors import InputError
from dgd.tables.clock import MICROSECONDS, Clock

LOCAL = "__dgd_local__"
WHOLE = "__dgd_whole__"

FIRST_YEAR, LAST_YEAR = 1900, 2199
"""The years that any time must fall into."""
EARLIEST, LATEST = (
    int(datetime(y, 1, 1, tzinfo=UTC).timestamp()) for y in (FIRST_YEAR, LAST_YEAR + 1)
)

DATE_TEXT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
WALL_TEXT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?$"
INSTANT_TEXT = (
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?"
    "(Z|[+-][0-9]{2}:[0-9]{2})$"
)


def add_local_time(frame: nw.LazyFrame[Any], clock: Clock, table: str) -> nw.LazyFrame[Any]:
    """The frame with the column `LOCAL`: the date or wall-clock time of every row.

    Args:
        frame: A log that has the clock's column.
        clock: What that column is.
        table: What messages call the log.

    Returns:
        The same frame; `LOCAL` is null where the time is missing or cannot be read.

    Raises:
        InputError: The clock does not say enough of what its column holds, or too much.
    """
    dtype = frame.collect_schema()[clock.column]
    dialect = DIALECTS[engine_of(frame)]
    if dtype == nw.Date:
        _refuse_settings(clock, table, "holds dates", "stored_in", "time_unit")
        return frame.with_columns(nw.col(clock.column).alias(LOCAL))
    if isinstance(dtype, nw.Datetime):
        moment = _timestamps(dialect, clock, table, zoned=dtype.time_zone is not None)
        return dialect.add(frame, LOCAL, moment)
    if dtype.is_numeric():
        return _add_from_numbers(frame, clock, table, clock.column)
    if dtype not in (nw.String, nw.Categorical, nw.Enum):
        raise InputError(
            f"{table} column {clock.column} holds {dtype}, which is not a time; hand over dates, "
            "timestamps, numbers since 1970 or text like 2022-04-21 13:45:00."
        )
    if dtype != nw.String:
        frame = frame.with_columns(nw.col(clock.column).cast(nw.String))
    raw = dialect.column(clock.column)
    if clock.time_unit is not None:
        whole = dialect.add(frame, WHOLE, dialect.whole(raw))
        return _add_from_numbers(whole, clock, table, WHOLE)
    return dialect.add(frame, LOCAL, _text(dialect, raw, clock))


def local_day(schema: Mapping[str, Any]) -> nw.Expr:
    """The day of the column `LOCAL`, which some logs hold as it is."""
    local = nw.col(LOCAL)
    return local if schema[LOCAL] == nw.Date else local.dt.date()


def _timestamps(dialect: Dialect[Any], clock: Clock, table: str, zoned: bool) -> Any:
    raw = dialect.column(clock.column)
    if zoned:
        what = "holds timestamps with a zone"
        _refuse_settings(clock, table, what, "stored_in", "time_unit")
        return dialect.in_zone(dialect.instant(raw), _zone(clock, table, "timestamps"))
    _refuse_settings(clock, table, "holds timestamps", "time_unit")
    zone = _zone(clock, table, "timestamps")
    if clock.stored_in is None:
        raise InputError(
            f"{table} column {clock.column} holds timestamps without a zone; say "
            f"{_stored_in(zone)}."
        )
    return raw if clock.stored_in == zone else dialect.in_zone(dialect.utc(raw), zone)


def _add_from_numbers(
    frame: nw.LazyFrame[Any], clock: Clock, table: str, column: str
) -> nw.LazyFrame[Any]:
    _refuse_settings(clock, table, "holds numbers", "stored_in")
    zone = _zone(clock, table, "times since 1970")
    if clock.time_unit is None:
        raise InputError(
            f"{table} column {clock.column} holds numbers; say what they count since 1970 with "
            'time_unit="s", "ms", "us" or "ns" in its Clock.'
        )
    factor = MICROSECONDS[clock.time_unit]
    number = nw.col(column)
    low, high = (int(edge * 1_000_000 / factor) for edge in (EARLIEST, LATEST))
    # Out of range becomes null before any arithmetic, so that nothing can overflow.
    plausible = nw.when(number.is_between(low, high)).then(number)
    if frame.collect_schema()[column].is_integer():
        plausible = plausible.cast(nw.Int64)
    micros = plausible * int(factor) if factor >= 1 else plausible // 1000
    dialect = DIALECTS[engine_of(frame)]
    frame = frame.with_columns(micros.cast(nw.Int64).alias(WHOLE))
    moment = dialect.in_zone(dialect.micros(dialect.column(WHOLE)), zone)
    return dialect.add(frame, LOCAL, moment)


def _text(dialect: Dialect[Any], raw: Any, clock: Clock) -> Any:
    wall = dialect.text_wall(raw)
    branches = [(DATE_TEXT, wall)]
    if clock.timezone is not None:
        told = dialect.in_zone(dialect.text_instant(raw), clock.timezone)
        branches.append((INSTANT_TEXT, told))
        if clock.stored_in == clock.timezone:
            branches.append((WALL_TEXT, wall))
        elif clock.stored_in is not None:
            branches.append((WALL_TEXT, dialect.in_zone(dialect.utc(wall), clock.timezone)))
    return dialect.first_match(raw, branches)


def _zone(clock: Clock, table: str, what: str) -> str:
    if clock.timezone is None:
        raise InputError(
            f"{table} column {clock.column} holds {what}; say in which zone a day begins, for "
            'example timezone="Europe/Berlin" in its Clock.'
        )
    return clock.timezone


def _stored_in(zone: str) -> str:
    """What may be said of times that name no zone, counted in the days of `zone`."""
    local = "" if zone == "UTC" else f', or stored_in="{zone}" if they already are local times'
    return f'stored_in="UTC" in its Clock{local}'


def _refuse_settings(clock: Clock, table: str, what: str, *settings: str) -> None:
    for setting in settings:
        if getattr(clock, setting) is not None:
            raise InputError(
                f"{table} column {clock.column} {what}, so {setting} has no meaning; leave it out "
                "of its Clock."
            )
