"""The first and last day of a range, as a user gives them."""

from datetime import date
from typing import cast

from dgd.errors import InputError
from dgd.tables.periods import Moment, period_named


def read_day(moment: Moment, name: str) -> date:
    """The day of a moment that the user gave as `name`."""
    return cast(date, period_named("day").parse(moment, name).astype(object))


def refuse_reversed(first: date, last: date) -> None:
    if first > last:
        raise InputError(f"start {first} is after end {last}; exchange them.")
