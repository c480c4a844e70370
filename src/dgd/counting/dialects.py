"""The few words about time that each engine says in its own way.

Narwhals covers everything else. No word reads or sets the session's time zone:
SQL engines pass instants as UTC microseconds, Polars as UTC timestamps.
"""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import narwhals as nw
import polars as pl

Word = TypeVar("Word")


@runtime_checkable
class Dialect(Protocol[Word]):
    """Expressions of one engine: Polars expressions, or SQL text."""

    def column(self, name: str) -> Word: ...
    def instant(self, x: Word) -> Word:
        """A timestamp with a zone, as an instant."""

    def utc(self, x: Word) -> Word:
        """A UTC wall-clock time, as an instant."""

    def micros(self, x: Word) -> Word:
        """Microseconds since 1970, as an instant."""

    def text_instant(self, x: Word) -> Word:
        """Text with an offset, as an instant; null if it cannot be read."""

    def text_wall(self, x: Word) -> Word:
        """Text without an offset, as a wall-clock time; null if it cannot be read."""

    def whole(self, x: Word) -> Word:
        """Text as a whole number; null if it cannot be read."""

    def in_zone(self, instant: Word, zone: str) -> Word:
        """The wall clock of `zone` at an instant."""

    def first_match(self, x: Word, branches: Sequence[tuple[str, Word]]) -> Word:
        """The value of the first branch whose regular expression the text matches, or null."""

    def add(self, frame: nw.LazyFrame[Any], name: str, x: Word) -> nw.LazyFrame[Any]:
        """The frame with the column `name` added."""


class Polars:
    def column(self, name: str) -> pl.Expr:
        return pl.col(name)

    def instant(self, x: pl.Expr) -> pl.Expr:
        return x

    def utc(self, x: pl.Expr) -> pl.Expr:
        return x.dt.replace_time_zone("UTC")

    def micros(self, x: pl.Expr) -> pl.Expr:
        return x.cast(pl.Datetime("us", "UTC"))

    def text_instant(self, x: pl.Expr) -> pl.Expr:
        written = x.str.replace(" ", "T", literal=True)
        return written.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%#z", strict=False, time_unit="us")

    def text_wall(self, x: pl.Expr) -> pl.Expr:
        written = x.str.replace(" ", "T", literal=True)
        forms = ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d")
        return pl.coalesce(
            written.str.to_datetime(form, strict=False, time_unit="us") for form in forms
        )

    def whole(self, x: pl.Expr) -> pl.Expr:
        return x.cast(pl.Int64, strict=False)

    def in_zone(self, instant: pl.Expr, zone: str) -> pl.Expr:
        return instant.dt.convert_time_zone(zone).dt.replace_time_zone(None)

    def first_match(self, x: pl.Expr, branches: Sequence[tuple[str, pl.Expr]]) -> pl.Expr:
        return pl.coalesce(
            pl.when(x.str.contains(pattern)).then(value) for pattern, value in branches
        )

    def add(self, frame: nw.LazyFrame[Any], name: str, x: pl.Expr) -> nw.LazyFrame[Any]:
        native: pl.LazyFrame = frame.to_native()
        return nw.from_native(native.with_columns(x.alias(name)))


class Sql:
    """What DuckDB and Spark say alike; instants are UTC microseconds."""

    mark = '"'
    matches = "regexp_matches"

    def column(self, name: str) -> str:
        return self.mark + name.replace(self.mark, self.mark * 2) + self.mark

    def micros(self, x: str) -> str:
        return x

    def whole(self, x: str) -> str:
        return f"TRY_CAST({x} AS BIGINT)"

    def first_match(self, x: str, branches: Sequence[tuple[str, str]]) -> str:
        cases = " ".join(
            f"WHEN {self.matches}({x}, '{pattern}') THEN {value}" for pattern, value in branches
        )
        return f"CASE {cases} END"


class DuckDB(Sql):
    def instant(self, x: str) -> str:
        return f"epoch_us({x})"

    def utc(self, x: str) -> str:
        return f"epoch_us(CAST({x} AS TIMESTAMP))"

    def text_instant(self, x: str) -> str:
        return f"epoch_us(TRY_CAST({x} AS TIMESTAMPTZ))"

    def text_wall(self, x: str) -> str:
        return f"TRY_CAST({x} AS TIMESTAMP)"

    def in_zone(self, instant: str, zone: str) -> str:
        return f"timezone('{zone}', make_timestamptz({instant}))"

    def add(self, frame: nw.LazyFrame[Any], name: str, x: str) -> nw.LazyFrame[Any]:
        added = frame.to_native().project(f"*, {x} AS {self.column(name)}")
        known: nw.LazyFrame[Any] = nw.from_native(added)
        return known


class Spark(Sql):
    mark = "`"
    matches = "regexp_like"
    epoch = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"

    def instant(self, x: str) -> str:
        return f"unix_micros({x})"

    def utc(self, x: str) -> str:
        return f"timestampdiff(MICROSECOND, {self.epoch}, {x})"

    def text_instant(self, x: str) -> str:
        return f"unix_micros(TRY_CAST({x} AS TIMESTAMP))"

    def text_wall(self, x: str) -> str:
        return f"TRY_CAST({x} AS TIMESTAMP_NTZ)"

    def in_zone(self, instant: str, zone: str) -> str:
        utc = f"{self.epoch} + INTERVAL '0.000001' SECOND * {instant}"
        return f"convert_timezone('UTC', '{zone}', {utc})"

    def add(self, frame: nw.LazyFrame[Any], name: str, x: str) -> nw.LazyFrame[Any]:
        from pyspark.sql import functions

        added = frame.to_native().withColumn(name, functions.expr(x))
        known: nw.LazyFrame[Any] = nw.from_native(added)
        return known


DIALECTS: dict[str, Dialect[Any]] = {
    "polars": Polars(),
    "duckdb": DuckDB(),
    "pyspark": Spark(),
    "pyspark[connect]": Spark(),
}
