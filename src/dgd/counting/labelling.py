"""Labels beside the rows of a log, on the engine the log lives in."""

from typing import Any

import narwhals as nw
import polars as pl

from dgd.counting.engines import engine_of, polars_column
from dgd.errors import InputError
from dgd.tables.labels import Label

KEY = "__dgd_key__"


def whole_labels(labels: pl.Series, table: str) -> pl.Series:
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
                f"{table} column {labels.name}: {broken[0]} is not a label; use whole numbers or "
                "text."
            )
        return numbers.cast(pl.Int64)
    return labels.cast(pl.String)


def label_in_memory(
    frame: nw.DataFrame[Any], lookup: pl.DataFrame, otherwise: Label | None
) -> nw.DataFrame[Any]:
    """The frame with the second column of `lookup` added, found by the first."""
    id, name = lookup.columns
    ids = whole_labels(polars_column(frame.get_column(id)), "events")
    if ids.dtype != lookup[id].dtype:
        ids = ids.cast(lookup[id].dtype, strict=False)
    labels = ids.replace_strict(
        lookup[id], lookup[name], default=otherwise, return_dtype=lookup[name].dtype
    )
    # pandas writes whole numbers next to missing ones as floats, if left to choose.
    whole = nw.Int64() if labels.dtype == pl.Int64 else nw.String()
    dtype = None if labels.null_count() else whole
    added = nw.new_series(name, labels.to_list(), dtype, backend=frame.implementation)
    return frame.with_columns(added)


def label_lazily(
    frame: nw.LazyFrame[Any], lookup: pl.DataFrame, otherwise: Label | None
) -> nw.LazyFrame[Any]:
    """The same as a left join of `lookup`, which is not run here."""
    id, name = lookup.columns
    keys = lookup.rename({id: KEY})
    numeric = keys.schema[KEY] == pl.Int64
    if numeric and frame.collect_schema()[id] == nw.String:
        keys, numeric = keys.with_columns(pl.col(KEY).cast(pl.String)), False
    own = frame.with_columns(nw.col(id).cast(nw.Int64 if numeric else nw.String).alias(KEY))
    joined = _left_join(own, keys)
    if otherwise is not None:
        joined = joined.with_columns(nw.col(name).fill_null(nw.lit(otherwise)))
    return joined.drop(KEY)


def _left_join(frame: nw.LazyFrame[Any], table: pl.DataFrame) -> nw.LazyFrame[Any]:
    """Every row of `frame` with what the small `table` says of its key."""
    if engine_of(frame) == "polars":
        # A bare Polars join may shuffle rows; labelled events stay in the order they came in.
        events: pl.LazyFrame = frame.to_native()
        return nw.from_native(events.join(table.lazy(), on=KEY, how="left", maintain_order="left"))
    return frame.join(_on_engine(frame, table), on=KEY, how="left")


def _on_engine(frame: nw.LazyFrame[Any], table: pl.DataFrame) -> nw.LazyFrame[Any]:
    """A small Polars table as a frame of the same SQL engine (and session) as `frame`."""
    native = frame.to_native()
    if engine_of(frame) == "duckdb":
        # DuckDB finds the table by its Python name, on the relation's own connection, and
        # holds on to it; no view or table stays behind.
        __dgd_lookup__ = table.to_arrow()
        found: nw.LazyFrame[Any] = nw.from_native(
            native.query("__dgd_events__", "FROM __dgd_lookup__")
        )
        del __dgd_lookup__
        return found
    from pyspark.sql import functions

    small = native.sparkSession.createDataFrame(table.to_arrow())
    return nw.from_native(functions.broadcast(small))
