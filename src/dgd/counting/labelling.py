"""Labels beside the rows of a log, on the engine the log lives in."""

from typing import Any

import narwhals as nw
import polars as pl

from dgd.counting.engines import engine_of, polars_column
from dgd.counting.free_names import free_name
from dgd.counting.whole_ids import refuse_rounded_ids, whole_labels
from dgd.tables.labels import Label


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
    refuse_rounded_ids(frame, id, "events")
    schema = frame.collect_schema()
    key = free_name("key", schema.names())
    keys = lookup.rename({id: key})
    numeric = keys.schema[key] == pl.Int64
    if numeric and schema[id] == nw.String:
        keys, numeric = keys.with_columns(pl.col(key).cast(pl.String)), False
    own = frame.with_columns(nw.col(id).cast(nw.Int64 if numeric else nw.String).alias(key))
    joined = _left_join(own, keys, key)
    if otherwise is not None:
        joined = joined.with_columns(nw.col(name).fill_null(nw.lit(otherwise)))
    return joined.drop(key)


def _left_join(frame: nw.LazyFrame[Any], table: pl.DataFrame, key: str) -> nw.LazyFrame[Any]:
    """Every row of `frame` with what the small `table` says of its key."""
    if engine_of(frame) == "polars":
        # A bare Polars join may shuffle rows; labelled events stay in the order they came in.
        events: pl.LazyFrame = frame.to_native()
        return nw.from_native(events.join(table.lazy(), on=key, how="left", maintain_order="left"))
    return frame.join(_on_engine(frame, table), on=key, how="left")


def _on_engine(frame: nw.LazyFrame[Any], table: pl.DataFrame) -> nw.LazyFrame[Any]:
    """A small Polars table as a frame of the same SQL engine (and session) as `frame`."""
    native = frame.to_native()
    if engine_of(frame) == "duckdb":
        return _on_duckdb(native, table)
    from pyspark.sql import functions

    small = native.sparkSession.createDataFrame(table.to_arrow())
    return nw.from_native(functions.broadcast(small))


def _on_duckdb(events: Any, table: pl.DataFrame) -> nw.LazyFrame[Any]:
    """The table on the connection of the relation `events`, which is found in no other way.

    DuckDB looks a name up among its own tables first and then among the variables of the
    caller, and holds on to what it finds; no view or table stays behind. The name is drawn,
    so that no table of the user's can stand in its place.
    """
    view, name = free_name("events"), free_name("lookup")
    caller = {"events": events, "view": view, "query": f"FROM {name}", name: table.to_arrow()}
    found: nw.LazyFrame[Any] = nw.from_native(eval("events.query(view, query)", caller))
    return found
