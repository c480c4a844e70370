"""The engines events live in, each seen as one lazy Narwhals frame.

Polars lazy frames, DuckDB relations and Spark frames stay where they are. Frames
already in memory (pandas, PyArrow, Polars) lend their columns to Polars' lazy
engine, so that a null, a NaN and a text mean the same everywhere.
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.tables.frames import EAGER_KINDS

SPARK = ("pyspark", "pyspark[connect]")
LAZY_KINDS = {"polars": "polars", "duckdb": "pyarrow", **dict.fromkeys(SPARK, "polars")}
"""The kind of frame in which each lazy engine's small results come back."""


def open_events(
    events: IntoFrame, name: str, columns: Sequence[str]
) -> tuple[nw.LazyFrame[Any], str]:
    """The wanted `columns` of `events` as a lazy frame, and the kind its results should have."""
    known = known_frame(events, name)
    engine = engine_of(known)
    present = known.collect_schema().names()
    for column in columns:
        if column not in present:
            raise InputError(
                f'{name} has no column "{column}"; its columns are {", ".join(present)}: '
                "rename one of them or name the right one."
            )
    wanted = list(dict.fromkeys(columns))
    if isinstance(known, nw.LazyFrame):
        if engine not in LAZY_KINDS:
            raise InputError(
                f"{name} lives in {engine}, on which dgd does not count; hand over a Polars lazy "
                "frame, a DuckDB relation or a Spark frame."
            )
        return known.select(wanted), LAZY_KINDS[engine]
    table = pl.DataFrame([polars_column(known.get_column(column)) for column in wanted])
    return nw.from_native(table.lazy()), engine if engine in EAGER_KINDS else "polars"


def known_frame(events: IntoFrame, name: str) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    try:
        return nw.from_native(events)
    except TypeError as error:
        raise InputError(
            f"{name}: a {type(events).__name__} is not a table; hand over a pandas, Polars, "
            "PyArrow, DuckDB or Spark frame."
        ) from error


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


def whole_labels(labels: pl.Series, name: str) -> pl.Series:
    """Labels as whole numbers or texts, the same on every engine; NaN is missing.

    Whole numbers that became floats (as pandas does next to missing values)
    turn back into whole numbers.
    """
    if labels.dtype.is_integer():
        return labels.cast(pl.Int64)
    if labels.dtype.is_float() or isinstance(labels.dtype, pl.Decimal):
        numbers = labels.cast(pl.Float64).fill_nan(None)
        broken = numbers.filter(numbers.is_not_null() & (numbers != numbers.floor()))
        if len(broken):
            raise InputError(
                f"{name} column {labels.name}: {broken[0]} is not a label; use whole numbers or "
                "text."
            )
        return numbers.cast(pl.Int64)
    return labels.cast(pl.String)
