"""Who is called what: labels of people or units, fixed once and put on events lazily."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.engines import SPARK, engine_of, known_frame, polars_column, whole_labels
from dgd.counting.history import History
from dgd.errors import InputError
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label

KEY = "__dgd_key__"


@dataclass(frozen=True)
class Assignment:
    """Labels fixed from a stated history, and how many stand behind each label.

    `cohorts.assign(events)` adds the column `name`; then
    `dgd.count_events(..., cohort=cohorts.name)` counts it and
    `Panel.from_counts(..., sizes=cohorts.sizes, cohorts=cohorts.labels)` reads it.
    """

    table: Any
    """One row per id known from the history: the id column under its own name, and `name`."""
    sizes: Any
    """Columns `name` and `size`, one row per label, in the order of `labels`."""
    labels: tuple[Label, ...]
    """Every label, also those that nobody has."""
    id: str
    """The id column, in the history and in the events to be labelled."""
    name: str
    """The column that `assign` adds: "cohort", "unit" or "bucket"."""
    otherwise: Label | None
    """The label of ids absent from the history and of missing ids."""
    start: date | None
    """The history's first and last day; `None` where the labels need no history."""
    end: date | None
    rows: int
    """How many rows of the history the labels were fixed from."""
    rows_outside: int
    """How many rows lay outside the history's dates."""
    rows_without_id: int
    """How many rows of the history had no id; they fix nothing."""

    def assign(self, events: IntoFrame) -> Any:
        """The same events, on the same engine, with the column `name` added.

        Lazy frames stay lazy (Polars, DuckDB and Spark join the small table); Polars and
        eager frames keep the order of their rows. Ids that the history does not know, and
        missing ids, get the label `otherwise`.
        """
        frame = known_frame(events, "events")
        present = frame.collect_schema().names()
        if self.id not in present:
            raise InputError(
                f'events has no column "{self.id}"; its columns are {", ".join(present)}: '
                "rename one of them to label by it."
            )
        if self.name in present:
            raise InputError(
                f'events already has a column "{self.name}"; drop it or choose another name=.'
            )
        lookup = nw.from_native(self.table).to_polars()
        if isinstance(frame, nw.LazyFrame):
            return _labelled_lazily(frame, lookup, self.id, self.name, self.otherwise)
        ids = whole_labels(polars_column(frame.get_column(self.id)), "events")
        if ids.dtype != lookup[self.id].dtype:
            ids = ids.cast(lookup[self.id].dtype, strict=False)
        labels = ids.replace_strict(
            lookup[self.id],
            lookup[self.name],
            default=self.otherwise,
            return_dtype=lookup[self.name].dtype,
        )
        # pandas writes whole numbers next to missing ones as floats, if left to choose.
        whole = nw.Int64() if labels.dtype == pl.Int64 else nw.String()
        dtype = None if labels.null_count() else whole
        added = nw.new_series(self.name, labels.to_list(), dtype, backend=frame.implementation)
        return frame.with_columns(added).to_native()


def _labelled_lazily(
    frame: nw.LazyFrame[Any], lookup: pl.DataFrame, id: str, name: str, otherwise: Label | None
) -> Any:
    """Left join of `lookup` on the frame's own engine."""
    keys = lookup.select(pl.col(id).alias(KEY), name)
    numeric = keys.schema[KEY] == pl.Int64
    texts = frame.collect_schema()[id] == nw.String
    if numeric and texts:
        keys, numeric = keys.with_columns(pl.col(KEY).cast(pl.String)), False
    own = frame.with_columns(nw.col(id).cast(nw.Int64 if numeric else nw.String).alias(KEY))
    joined = _left_join(own, keys)
    if otherwise is not None:
        joined = joined.with_columns(nw.col(name).fill_null(nw.lit(otherwise)))
    return joined.drop(KEY).to_native()


def _left_join(frame: nw.LazyFrame[Any], table: pl.DataFrame) -> nw.LazyFrame[Any]:
    """Every row of `frame` with what the small `table` says of its key."""
    if engine_of(frame) == "polars":
        # A bare Polars join may shuffle rows; labelled events stay in the order they came in.
        events: pl.LazyFrame = frame.to_native()
        return nw.from_native(events.join(table.lazy(), on=KEY, how="left", maintain_order="left"))
    return frame.join(_on_engine(frame, table), on=KEY, how="left")


def _on_engine(frame: nw.LazyFrame[Any], table: pl.DataFrame) -> nw.LazyFrame[Any]:
    """A small Polars table as a frame of the same SQL engine (and session) as `frame`."""
    engine, native = engine_of(frame), frame.to_native()
    if engine == "duckdb":
        # DuckDB finds the table by its Python name, on the relation's own connection, and
        # holds on to it; no view or table stays behind.
        __dgd_lookup__ = table.to_arrow()
        found: nw.LazyFrame[Any] = nw.from_native(
            native.query("__dgd_events__", "FROM __dgd_lookup__")
        )
        del __dgd_lookup__
        return found
    if engine in SPARK:
        from pyspark.sql import functions

        return nw.from_native(
            functions.broadcast(native.sparkSession.createDataFrame(table.to_arrow()))
        )
    raise InputError(
        f"events lives in {engine}, on which dgd does not label; hand over a Polars lazy frame, a "
        "DuckDB relation or a Spark frame."
    )


def fixed_by(
    history: History,
    *,
    id: str,
    name: str,
    groups: pl.Series,
    labels: Sequence[str],
    otherwise: str,
    smoothing: float,
    otherwise_size: float,
) -> Assignment:
    """The assignment that puts each id of `history` in the group at its row.

    `groups` are places in `labels`; a group's size is its people plus `smoothing`.
    """
    if otherwise in labels:
        raise InputError(f'the label "{otherwise}" is taken by another group; choose another.')
    if smoothing < 0 or otherwise_size <= 0:
        raise InputError(
            f"smoothing {smoothing} and size {otherwise_size} must not be negative, and the "
            "size not 0."
        )
    table = pl.DataFrame(
        [history.table[id], pl.Series(name, [labels[g] for g in groups], dtype=pl.String)]
    )
    people = [float((groups == place).sum()) + smoothing for place in range(len(labels))]
    sizes = pl.DataFrame({name: [*labels, otherwise], "size": [*people, float(otherwise_size)]})
    return Assignment(
        table=from_polars(table, history.kind),
        sizes=from_polars(sizes, history.kind),
        labels=(*labels, otherwise),
        id=id,
        name=name,
        otherwise=otherwise,
        start=history.start,
        end=history.end,
        rows=history.rows,
        rows_outside=history.rows_outside,
        rows_without_id=history.rows_without_id,
    )
