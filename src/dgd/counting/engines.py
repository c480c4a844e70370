"""The engines events live in, each seen as one lazy Narwhals frame.

Polars lazy frames, DuckDB relations and Spark frames stay where they are. Frames
already in memory (pandas, PyArrow, Polars) lend their columns to Polars' lazy
engine, so that a null, a NaN and a text mean the same everywhere.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.tables import refusing
from dgd.tables.frames import EAGER_KINDS

LAZY_KINDS = {
    "polars": "polars",
    "duckdb": "pyarrow",
    "pyspark": "polars",
    "pyspark[connect]": "polars",
}
"""The kind of frame in which each lazy engine's small results come back."""

ROWS = "__dgd_rows__"
"""The column in which a group-by says how many rows each group has."""


def open_events(
    events: IntoFrame, table: str, columns: Sequence[str]
) -> tuple[nw.LazyFrame[Any], str]:
    """Some columns of a log as a lazy frame, and the kind of frame its results should have.

    Args:
        events: A frame of any engine.
        table: What messages call it.
        columns: The columns wanted, repeated ones once.

    Raises:
        InputError: `events` is no frame that dgd reads, or lacks a column.
    """
    known = known_frame(events, table)
    schema_with(known, table, columns)
    wanted = list(dict.fromkeys(columns))
    engine = engine_of(known)
    if isinstance(known, nw.LazyFrame):
        return known.select(wanted), LAZY_KINDS[engine]
    lent = pl.DataFrame([polars_column(known.get_column(column)) for column in wanted])
    return nw.from_native(lent.lazy()), engine if engine in EAGER_KINDS else "polars"


def known_frame(events: IntoFrame, table: str) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """The events as Narwhals sees them; what dgd cannot count is refused."""
    try:
        known: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(events)
    except TypeError as error:
        raise InputError(
            f"{table}: a {type(events).__name__} is not a table; hand over a pandas, Polars, "
            "PyArrow, DuckDB or Spark frame."
        ) from error
    if isinstance(known, nw.LazyFrame) and engine_of(known) not in LAZY_KINDS:
        raise InputError(
            f"{table} lives in {engine_of(known)}, where dgd does not count; hand over a Polars "
            "lazy frame, a DuckDB relation or a Spark frame."
        )
    return known


def schema_with(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any], table: str, columns: Sequence[str]
) -> Mapping[str, Any]:
    """The types of all columns, if those named are among them."""
    schema = frame.collect_schema()
    refusing.require_columns(pl.DataFrame(schema=schema.names()), table, columns)
    return schema


def engine_of(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> str:
    return str(frame.implementation.value)


def polars_column(column: nw.Series[Any]) -> pl.Series:
    """One column in Polars; a pandas column of mixed Python objects becomes text."""
    try:
        return column.to_polars()
    except (TypeError, ValueError):
        missing = column.is_null().to_list()
        texts = [None if m else str(x) for x, m in zip(column.to_list(), missing, strict=True)]
        return pl.Series(column.name, texts, dtype=pl.String)


def collect(frame: nw.LazyFrame[Any]) -> pl.DataFrame:
    """Run the query where the events live and bring the small result to Polars."""
    native = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        return native.collect(engine="streaming")
    table: pl.DataFrame = frame.collect("polars").to_native()
    return table


def rows_in(groups: pl.DataFrame) -> int:
    """How many rows of the log all groups hold together."""
    return int(groups[ROWS].sum())
