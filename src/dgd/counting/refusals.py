"""What is said of rows that cannot be counted: how many there are, and one of them to show."""

from dataclasses import dataclass
from math import isnan
from typing import Any, NoReturn

import narwhals as nw

from dgd.counting.engines import collect
from dgd.errors import InputError


@dataclass(frozen=True)
class BadRows:
    """Rows whose value in one column is missing or wrong."""

    rows: int
    missing: int
    """How many of them have no value at all."""
    example: Any
    """The least of the wrong values."""

    @property
    def shown(self) -> str:
        """The example as messages write it."""
        # Some engines skip NaN when they look for the least value, others show it.
        if self.example is None or (isinstance(self.example, float) and isnan(self.example)):
            return "NaN"
        return f'"{self.example}"' if isinstance(self.example, str) else str(self.example)

    @property
    def counted(self) -> str:
        """How many rows are wrong, and how many more are missing."""
        also = f" (and it is missing in {plural(self.missing)})" if self.missing else ""
        return f"in {plural(self.rows - self.missing)}{also}"


def look_at(frame: nw.LazyFrame[Any], column: str) -> BadRows:
    """Count the rows of a frame that holds bad ones only, in one query."""
    value = nw.col(column)
    # Truth has no least value on some engines; its text has.
    truth = frame.collect_schema()[column] == nw.Boolean
    found = collect(
        frame.select(
            nw.len().alias("rows"),
            value.is_null().cast(nw.Int64).sum().alias("missing"),
            (value.cast(nw.String) if truth else value).min().alias("example"),
        )
    ).row(0, named=True)
    # DuckDB adds whole numbers up to wider ones, which arrive as decimals.
    return BadRows(int(found["rows"]), int(found["missing"] or 0), found["example"])


def refuse_missing(table: str, column: str, rows: int, way_out: str | None = None) -> NoReturn:
    """Raise for a column that is missing in `rows` rows."""
    these = "this row" if rows == 1 else "these rows"
    raise InputError(
        f"{table} column {column} is missing in {plural(rows)}; "
        f"{way_out or f'fill it in or drop {these} first'}."
    )


def plural(rows: int) -> str:
    """A number of rows in words: "1 row", "2,000 rows"."""
    return f"{rows:,} row" if rows == 1 else f"{rows:,} rows"
