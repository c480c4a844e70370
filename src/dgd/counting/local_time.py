"""The day on which something happened, in a stated time zone, on any engine.

Engines differ in how their session's zone leaks into timestamps. Here every
instant becomes UTC microseconds (or a UTC timestamp in Polars) and from there
the wall clock of the zone asked for; the session's zone is neither read nor set.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import narwhals as nw
import polars as pl

from dgd.counting.dialects import DIALECTS, Dialect
from dgd.counting.engines import collect, engine_of
from dgd.errors import InputError

LOCAL = "__dgd_local__"
WHOLE = "__dgd_whole__"

MICROSECONDS = {"s": 1_000_000, "ms": 1000, "us": 1, "ns": 0.001}
EARLIEST, LATEST = (int(datetime(y, 1, 1, tzinfo=UTC).timestamp()) for y in (1900, 2200))

DATE_TEXT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
WALL_TEXT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?$"
INSTANT_TEXT = (
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?"
    "(Z|[+-][0-9]{2}:[0-9]{2})$"
)


@dataclass(frozen=True)
class Clock:
    """How to read the local time of an event from one of its columns.

    - Dates are days already.
    - Timestamps with a zone, and text with an offset (2022-04-21T13:45:00Z), are
      instants; `timezone` says whose days are counted.
    - Timestamps and text without a zone are wall-clock times; `stored_in` says of
      which zone: "UTC", or the `timezone` itself.
    - Numbers are `time_unit`s ("s", "ms", "us", "ns") since 1970 in UTC.
    """

    time: str
    timezone: str | None = None
    stored_in: str | None = None
    time_unit: str | None = None

    def __post_init__(self) -> None:
        check_zone("timezone", self.timezone)
        check_zone("stored_in", self.stored_in)
        if self.time_unit is not None and self.time_unit not in MICROSECONDS:
            raise InputError(f'time_unit "{self.time_unit}" is not known; choose s, ms, us or ns.')
        if self.stored_in not in (None, "UTC", self.timezone):
            raise InputError(
                f'stored_in "{self.stored_in}" is neither "UTC" nor the timezone '
                f'"{self.timezone}"; wall-clock times of a third zone repeat or skip hours: '
                "convert them to UTC first."
            )

    def tell(self, frame: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
        """Add the column `LOCAL`: the date or wall-clock time, null where it cannot be read."""
        dtype = frame.collect_schema()[self.time]
        dialect = DIALECTS[engine_of(frame)]
        raw = dialect.column(self.time)
        if dtype == nw.Date:
            self._refuse_settings(name, "holds dates", "stored_in", "time_unit")
            return frame.with_columns(nw.col(self.time).alias(LOCAL))
        if isinstance(dtype, nw.Datetime):
            return self._tell_timestamps(frame, name, zoned=dtype.time_zone is not None)
        if dtype.is_numeric():
            self._refuse_settings(name, "holds numbers", "stored_in")
            return self._tell_numbers(frame, name)
        if dtype not in (nw.String, nw.Categorical, nw.Enum):
            raise InputError(
                f"{name} column {self.time} holds {dtype}, which is not a time; hand over dates, "
                "timestamps, numbers since 1970 or text like 2022-04-21 13:45:00."
            )
        if dtype != nw.String:
            frame = frame.with_columns(nw.col(self.time).cast(nw.String))
        if self.time_unit is not None:
            self._refuse_settings(name, "holds numbers", "stored_in")
            return self._tell_numbers(dialect.add(frame, WHOLE, dialect.whole(raw)), name, WHOLE)
        return dialect.add(frame, LOCAL, self._text(dialect, raw))

    def _tell_timestamps(
        self, frame: nw.LazyFrame[Any], name: str, zoned: bool
    ) -> nw.LazyFrame[Any]:
        dialect = DIALECTS[engine_of(frame)]
        raw = dialect.column(self.time)
        if zoned:
            self._refuse_settings(name, "holds timestamps with a zone", "stored_in", "time_unit")
            zone = self._zone(name, "timestamps")
            return dialect.add(frame, LOCAL, dialect.in_zone(dialect.instant(raw), zone))
        self._refuse_settings(name, "holds timestamps", "time_unit")
        zone = self._zone(name, "timestamps")
        if self.stored_in is None:
            raise InputError(
                f"{name} column {self.time} holds timestamps without a zone; say "
                f'stored_in="UTC", or stored_in="{zone}" if they already are local times.'
            )
        if self.stored_in == zone:
            return dialect.add(frame, LOCAL, raw)
        return dialect.add(frame, LOCAL, dialect.in_zone(dialect.utc(raw), zone))

    def _tell_numbers(
        self, frame: nw.LazyFrame[Any], name: str, column: str | None = None
    ) -> nw.LazyFrame[Any]:
        zone = self._zone(name, "times since 1970")
        if self.time_unit is None:
            raise InputError(
                f"{name} column {self.time} holds numbers; say what they count since 1970 with "
                'time_unit="s", "ms", "us" or "ns".'
            )
        factor = MICROSECONDS[self.time_unit]
        number = nw.col(column or self.time)
        low, high = (int(edge * 1_000_000 / factor) for edge in (EARLIEST, LATEST))
        # Out of range becomes null before any arithmetic, so that nothing can overflow.
        plausible = nw.when(number.is_between(low, high)).then(number)
        if frame.collect_schema()[column or self.time].is_integer():
            plausible = plausible.cast(nw.Int64)
        micros = plausible * int(factor) if factor >= 1 else plausible // 1000
        dialect = DIALECTS[engine_of(frame)]
        frame = frame.with_columns(micros.cast(nw.Int64).alias(WHOLE))
        moment = dialect.in_zone(dialect.micros(dialect.column(WHOLE)), zone)
        return dialect.add(frame, LOCAL, moment)

    def _text(self, dialect: Dialect[Any], raw: Any) -> Any:
        wall = dialect.text_wall(raw)
        branches = [(DATE_TEXT, wall)]
        if self.timezone is not None:
            told = dialect.in_zone(dialect.text_instant(raw), self.timezone)
            branches.append((INSTANT_TEXT, told))
            if self.stored_in == self.timezone:
                branches.append((WALL_TEXT, wall))
            elif self.stored_in is not None:
                branches.append((WALL_TEXT, dialect.in_zone(dialect.utc(wall), self.timezone)))
        return dialect.first_match(raw, branches)

    def _zone(self, name: str, what: str) -> str:
        if self.timezone is None:
            raise InputError(
                f"{name} column {self.time} holds {what}; say in which zone a day begins, for "
                'example timezone="Europe/Berlin".'
            )
        return self.timezone

    def _refuse_settings(self, name: str, what: str, *settings: str) -> None:
        for setting in settings:
            if getattr(self, setting) is not None:
                raise InputError(
                    f"{name} column {self.time} {what}, so {setting} has no meaning; leave it out."
                )

    def refuse_unreadable(self, frame: nw.LazyFrame[Any], name: str) -> None:
        """Raise for the rows of a told `frame` without a local time, counting them."""
        raw = nw.col(self.time)
        found = collect(
            frame.filter(nw.col(LOCAL).is_null()).select(
                nw.len().alias("rows"),
                raw.is_null().cast(nw.Int64).sum().alias("missing"),
                raw.min().alias("example"),
            )
        ).row(0, named=True)
        # DuckDB adds whole numbers up to wider ones, which arrive as decimals.
        rows, missing, example = int(found["rows"]), int(found["missing"] or 0), found["example"]
        if rows == missing:
            raise InputError(
                f"{name} column {self.time} is missing in {plural(missing)}; fill it in or drop "
                f"{'this row' if missing == 1 else 'these rows'} first."
            )
        shown = f'"{example}"' if isinstance(example, str) else example
        also = f" (and it is missing in {plural(missing)})" if missing else ""
        raise InputError(
            f"{name} column {self.time}: {shown} is not a time dgd can read, in "
            f"{plural(rows - missing)}{also}; {self._way_out(example)}"
        )

    def _way_out(self, example: Any) -> str:
        if self.time_unit is not None:
            return f'check time_unit="{self.time_unit}": it must fall between 1900 and 2200.'
        timed = isinstance(example, str) and pl.Series([example]).str.contains(WALL_TEXT)[0]
        if self.timezone is None:
            return 'write dates like 2022-04-21, or give timezone="..." for times of day.'
        if timed and self.stored_in is None:
            return f'say stored_in="UTC" or stored_in="{self.timezone}", as it names no zone.'
        return "write it like 2022-04-21 13:45:00 or 2022-04-21T13:45:00Z."


def plural(rows: int) -> str:
    return f"{rows:,} row" if rows == 1 else f"{rows:,} rows"


def check_zone(setting: str, zone: str | None) -> None:
    """Refuse a time zone that the time-zone database does not know."""
    if zone is None:
        return
    try:
        pl.Series([0]).cast(pl.Datetime("us", "UTC")).dt.convert_time_zone(zone)
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise InputError(
            f'{setting} "{zone}" is not a known time zone; use a name like "Asia/Shanghai" or '
            '"UTC".'
        ) from error
