"""What the time column of a log is, and how its times are written down."""

from dataclasses import dataclass

import polars as pl

from dgd.errors import InputError

MICROSECONDS = {"s": 1_000_000, "ms": 1000, "us": 1, "ns": 0.001}
"""How many microseconds each unit of time lasts."""


@dataclass(frozen=True)
class Clock:
    """The time column of a log: what it holds, and in whose days events are counted.

    What else must be said depends on what the column holds:

    - Dates are days already; the column alone is enough.
    - Timestamps with a zone, and text with an offset like "2022-04-21T13:45:00Z",
      are instants; `timezone` says whose days are counted.
    - Timestamps and text without a zone are wall-clock times; `stored_in` says of
      which zone.
    - Numbers are times since 1970 in UTC; `time_unit` says what they count.

    Args:
        column: The time column.
        timezone: The zone in which a day begins, like "Europe/Berlin"; needed unless
            the column holds dates.
        stored_in: For times that name no zone, the zone they are written in: "UTC" or
            the same as `timezone`.
        time_unit: For numbers: "s", "ms", "us" or "ns".

    Raises:
        InputError: A zone or a unit is not known, or `stored_in` is neither "UTC" nor the
            `timezone`.

    Example:
        Milliseconds since 1970, counted in the days of Shanghai::

            dgd.Clock("time_ms", timezone="Asia/Shanghai", time_unit="ms")
    """

    column: str
    timezone: str | None = None
    stored_in: str | None = None
    time_unit: str | None = None

    def __post_init__(self) -> None:
        _check_zone("timezone", self.timezone)
        _check_zone("stored_in", self.stored_in)
        if self.time_unit is not None and self.time_unit not in MICROSECONDS:
            raise InputError(f'time_unit "{self.time_unit}" is not known; choose s, ms, us or ns.')
        if self.stored_in is not None and self.timezone is None:
            raise InputError(
                f'stored_in "{self.stored_in}" comes without timezone; name the zone in which a '
                'day begins, for example timezone="Europe/Berlin", or leave stored_in out if '
                f"column {self.column} holds dates."
            )
        if self.stored_in not in (None, "UTC", self.timezone):
            raise InputError(
                f'stored_in "{self.stored_in}" is neither "UTC" nor the timezone '
                f'"{self.timezone}"; wall-clock times of a third zone repeat or skip hours: '
                "convert them to UTC first."
            )


def _check_zone(setting: str, zone: str | None) -> None:
    """Refuse a time zone that the time-zone database does not know by that name."""
    if zone is not None and not _is_known(zone):
        raise InputError(
            f'{setting} "{zone}" is not a known time zone; use a name like "Asia/Shanghai" or '
            '"UTC".'
        )


def _is_known(zone: str) -> bool:
    try:
        told = pl.Series([0]).cast(pl.Datetime("us", "UTC")).dt.convert_time_zone(zone)
    except (pl.exceptions.PolarsError, TypeError, UnicodeError):
        return False
    # Polars also takes "" and "utc" for UTC, offsets for zones and "*" for any; a name is meant.
    return told.dtype == pl.Datetime("us", zone) and zone != "*"
