"""The time step of a panel: an hour, a day or a week.

Nothing in the model needs the step to be a day; the step is a property of
the panel, and everything that walks through time asks it here.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeAlias

import numpy as np
import polars as pl

from dgd.errors import InputError

DATE = re.compile(r"^\d{4}-\d{2}-\d{2}([ T]\d{2}(:\d{2}(:\d{2}(\.\d+)?)?)?)?$")
"""A whole date as text, and the time of day where hours are counted."""

Moment: TypeAlias = str | date | datetime | np.datetime64


@dataclass(frozen=True)
class Period:
    """One step of time, and how to write, read and count such steps."""

    name: str
    step: np.timedelta64
    unit: str
    """NumPy's datetime unit in which every step of this period is exact."""

    def range(self, first: np.datetime64, count: int) -> np.ndarray:
        """`count` consecutive moments from `first` on."""
        return first.astype(f"datetime64[{self.unit}]") + self.step * np.arange(count)

    def parse(self, moment: Moment, name: str) -> np.datetime64:
        """Read one moment given by a user as `name`."""
        if isinstance(moment, datetime) and moment.tzinfo is not None:
            raise InputError(
                f'{name} "{moment}" names a time zone; give the date of the panel, like '
                f"{moment.date()}."
            )
        whole = isinstance(moment, str) and DATE.match(moment)
        if not whole and not isinstance(moment, (date, np.datetime64)):
            raise InputError(f'{name} "{moment}" is not a date; write it like 2022-04-21.')
        try:
            parsed = np.datetime64(moment)
        except ValueError as error:
            raise InputError(
                f'{name} "{moment}" is not a date; write it like 2022-04-21.'
            ) from error
        if np.isnat(parsed) or np.datetime_data(parsed)[0] in ("Y", "M", "W"):
            raise InputError(f'{name} "{moment}" is not a date; write it like 2022-04-21.')
        return parsed.astype(f"datetime64[{self.unit}]")

    def series(self, name: str, moments: np.ndarray) -> pl.Series:
        """Moments as a Polars column: dates for days and weeks, datetimes for hours."""
        kind = pl.Date() if self.unit == "D" else pl.Datetime("us")
        return pl.Series(name, moments.astype("datetime64[us]")).cast(kind)


PERIODS = {
    "hour": Period("hour", np.timedelta64(1, "h"), "h"),
    "day": Period("day", np.timedelta64(1, "D"), "D"),
    "week": Period("week", np.timedelta64(7, "D"), "D"),
}


def period_named(name: str) -> Period:
    if not isinstance(name, str) or name not in PERIODS:
        raise InputError(f'period "{name}" is not known; choose hour, day or week.')
    return PERIODS[name]
