"""Special days: public holidays of a country, and days that the user names.

Both are known for any date, so that forecasts know the special days ahead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Int
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.files import declared
from dgd.tables import checks, refusing
from dgd.tables.dates import read_dates
from dgd.tables.frames import to_polars
from dgd.tables.periods import PERIODS, Period

ORDINARY, PUBLIC_HOLIDAY = "ordinary", "public holiday"
TABLE, DATE, NAME = "special", "date", "name"
ANY_DATES = ("1000-01-01", "9999-12-31")
"""Special days may lie years apart."""
LANGUAGE = "en_US"
"""Of the holidays' names, where the package has them in it."""
WAY_OUT = "write an ISO code like GB, or GB-ENG for a part of a country"


@dataclass(frozen=True)
class SpecialDays:
    """Which days are public holidays, and which ones the user names."""

    country: str | None = None
    """An ISO code, with "-" and a subdivision where one is meant: "GB", "GB-ENG", "US-CA"."""
    names: tuple[str, ...] = ()
    """The different names of the user's own days, in order of first appearance."""
    own: tuple[tuple[date, str], ...] = ()
    """The user's own days, each with its name."""

    @staticmethod
    def read(country: str | None, special: IntoFrame | None, period: Period) -> "SpecialDays":
        """As `Panel.from_counts` is told of them."""
        if period.name == "week" and (country is not None or special is not None):
            raise InputError(
                "country and special tell single days apart, but the panel counts weeks; leave "
                "them out, or count by day."
            )
        own = () if special is None else _own_days(special)
        if country is not None:
            _check_country(country)
        return SpecialDays(country, _different(name for _, name in own), own)

    @staticmethod
    def restored(facts: Mapping[str, Any]) -> "SpecialDays":
        """Those that a file keeps as `stored` describes them."""
        country, names = facts["country"], declared.texts(facts, "names")
        if country is not None:
            _check_country(country)
        days = [date.fromisoformat(day) for day in declared.texts(facts, "dates")]
        numbers = facts["numbers"]
        if not isinstance(numbers, list) or len(numbers) != len(days):
            raise ValueError("numbers of special days are not one for each date")
        if not all(declared.is_whole(at) and 0 <= at < len(names) for at in numbers):
            raise ValueError("numbers of special days are not those of their names")
        return SpecialDays(
            country, names, tuple((d, names[at]) for d, at in zip(days, numbers, strict=True))
        )

    def stored(self) -> dict[str, Any]:
        """Plain values for a file: the different names, and the number of each date's."""
        return {
            "country": self.country,
            "names": list(self.names),
            "dates": [str(day) for day, _ in self.own],
            "numbers": [self.names.index(name) for _, name in self.own],
        }

    def __bool__(self) -> bool:
        return self.country is not None or bool(self.own)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the codes stand for."""
        return (ORDINARY, PUBLIC_HOLIDAY, *self.names)

    def names_on(self, dates: np.ndarray) -> list[str | None]:
        """What every date is called: as the user names it, or as the holiday is called; None on
        ordinary days. The date of an hour is its day's."""
        own = dict(self.own)
        return [own.get(day) or self._holiday(day) for day in _days(dates)]

    def codes_on(self, dates: np.ndarray) -> Int[np.ndarray, " date"]:
        """The number of every date's kind: 0 on ordinary days, 1 on public holidays, 2 and more
        on the user's own days, which come before a public holiday of the same date."""
        number = {name: code for code, name in enumerate(self.names, 2)}
        own = {day: number[name] for day, name in self.own}
        codes = [own.get(day, int(self._holiday(day) is not None)) for day in _days(dates)]
        return np.array(codes, np.int64)

    def merged(self, newer: "SpecialDays") -> "SpecialDays":
        """These days and newer ones; dates that both name are called as the newer ones call them,
        and the codes of known names stay.

        Raises:
            InputError: The newer ones are of another country.
        """
        if newer.country not in (None, self.country):
            known = "without a country" if self.country is None else f'with "{self.country}"'
            raise InputError(
                f'country of the new panel is "{newer.country}", but what is known was made '
                f"{known}; make the panel the same way, or fit again."
            )
        own = {**dict(self.own), **dict(newer.own)}
        return SpecialDays(
            self.country, _different([*self.names, *newer.names]), tuple(own.items())
        )

    def counted(self, dates: np.ndarray) -> dict[str, int]:
        """How many of the days are special, by what they are."""
        codes = self.codes_on(np.unique(dates.astype("datetime64[D]")))
        told: dict[str, int] = {}
        if self.country is not None:
            told[f"public holidays ({self.country})"] = int((codes == 1).sum())
        if self.own:
            told["other special days"] = int((codes > 1).sum())
        return told

    def described(self, dates: np.ndarray) -> str:
        """The same in a few words, like "12 public holidays (GB)"; empty where none are known."""
        told = self.counted(dates).items()
        return ", ".join(
            f"{number} {what.replace('days', 'day') if number == 1 else what}"
            for what, number in told
        )

    def _holiday(self, day: date) -> str | None:
        return None if self.country is None else _holidays(self.country, day.year).get(day)


NO_SPECIAL_DAYS = SpecialDays()


def _days(dates: np.ndarray) -> list[date]:
    days: list[date] = dates.astype("datetime64[D]").tolist()
    return days


def _different(names: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _own_days(special: IntoFrame) -> tuple[tuple[date, str], ...]:
    """The rows of the user's table, in their order."""
    table = to_polars(special, TABLE)[0]
    for column in table.columns:
        if column not in (DATE, NAME):
            near = get_close_matches(column, (DATE, NAME), 1, cutoff=0)[0]
            raise InputError(
                f'{TABLE} has a column "{column}", which is not known; the nearest known one is '
                f'"{near}": rename or drop it.'
            )
    table = refusing.number_rows(table)
    refusing.require_columns(table, TABLE, [DATE, NAME])
    refusing.refuse_empty(table, TABLE)
    table = read_dates(table, TABLE, DATE, PERIODS["day"], ANY_DATES)
    checks.read_labels(table, TABLE, NAME)
    name = pl.col(NAME).cast(pl.String).str.strip_chars()
    refusing.refuse(table, TABLE, NAME, name == "", "is not a name; fill it in or drop the row.")
    taken = name.is_in([ORDINARY, PUBLIC_HOLIDAY])
    refusing.refuse(table, TABLE, NAME, taken, "is a kind of day that dgd knows; rename it.")
    once = "name each date once"
    refusing.refuse_duplicates(table, TABLE, [DATE], "a name", once)
    return tuple(table.select(DATE, name).iter_rows())


def _check_country(country: object) -> None:
    """Refuse what the package `holidays` does not know."""
    if not isinstance(country, str):
        raise InputError(f"country is {refusing.shown(country)}; {WAY_OUT}.")
    known = _countries()
    code, _, part = country.partition("-")
    if code not in known:
        raise InputError(f'country "{country}" is not known; {_meant(code, list(known))}.')
    if country != code and part not in known[code]:
        parts = [f"{code}-{one}" for one in known[code]]
        raise InputError(f'country "{country}" is not known; {_meant(country, parts)}.')


def _meant(given: str, known: Sequence[str]) -> str:
    near = get_close_matches(given.upper(), known, 3, cutoff=0.5)
    return f"the nearest are {', '.join(near)}: {WAY_OUT}" if near else WAY_OUT


@cache
def _countries() -> dict[str, list[str]]:
    """Every country that has holidays, and its subdivisions."""
    import holidays

    return holidays.list_supported_countries()


@cache
def _holidays(country: str, year: int) -> dict[date, str]:
    """The public holidays of a year and their names."""
    import holidays

    code, _, part = country.partition("-")
    return dict(
        holidays.country_holidays(
            code, subdiv=part or None, years=year, expand=False, language=LANGUAGE
        )
    )
