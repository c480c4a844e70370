"""A small valid table, ways to spoil it, and what a refusal must look like."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from typing import Any

import pandas as pd
import polars as pl
import pytest

import dgd
from dgd.panel.panel import Panel

BEHAVIORS = ["click", "like"]
FIRST = date(2022, 4, 1)
DAYS = 8


def day(number: int) -> date:
    return FIRST + timedelta(days=number)


def rows() -> pl.DataFrame:
    """One row a day, unit and cohort; row r is on day (r - 1) // 4."""
    return pl.DataFrame(
        [
            (day(d), unit, cohort, (d + u) % 2, g, 3)
            for d in range(DAYS)
            for u, unit in enumerate(["north", "south"])
            for g, cohort in enumerate(["new", "old"])
        ],
        schema=["date", "unit", "cohort", *BEHAVIORS, "count"],
        orient="row",
    )


def changed(row: int, column: str, value: object) -> pd.DataFrame:
    """The counts with one value changed, as a frame whose columns may hold anything."""
    table = {name: list(values) for name, values in rows().to_dict(as_series=False).items()}
    table[column][row - 1] = value
    return pd.DataFrame({name: pd.Series(values) for name, values in table.items()})


def by_date(name: str, values: list[Any], first: int = 0) -> pl.DataFrame:
    days = [day(first + place) for place in range(len(values))]
    dates = pl.Series("date", days, pl.Date)
    return pl.DataFrame([dates, pl.Series(name, values, strict=False)])


def make(table: Any = None, **options: Any) -> Panel:
    return Panel.from_counts(
        rows() if table is None else table, **{"behaviors": BEHAVIORS, **options}
    )


@contextmanager
def refused(*words: str) -> Iterator[None]:
    """The block raises an `InputError` of one sentence that holds all `words`."""
    with pytest.raises(dgd.InputError) as refusal:
        yield
    message = str(refusal.value)
    assert message.endswith("."), message
    assert not re.search(r"[.!?]\s|\n", message), f"more than one sentence: {message}"
    assert re.search(r"[;:] \S", message), f"no way out: {message}"
    for word in words:
        assert word in message, f"{word!r} is not in: {message}"
