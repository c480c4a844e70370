"""What a stated range of days shows of each person or unit: one row per id."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.engines import collect, open_events, whole_labels
from dgd.counting.local_time import add_local_time, local_day
from dgd.counting.refusals import plural
from dgd.counting.unreadable_times import refuse_unreadable
from dgd.errors import InputError
from dgd.tables.clock import Clock
from dgd.tables.periods import Moment, period_named

INSIDE, ROWS = "__dgd_inside__", "__dgd_rows__"


@dataclass(frozen=True)
class History:
    """One row per id that the range knows, and an account of the rows that gave it."""

    table: pl.DataFrame
    """The id column, `rows`, and the sums asked for; ids in ascending order."""
    frame: nw.LazyFrame[Any]
    """The log itself, for a closer look at bad rows."""
    kind: str
    start: date
    end: date
    rows: int
    rows_outside: int
    rows_without_id: int


def read_history(
    log: IntoFrame,
    clock: Clock,
    *,
    id: str,
    columns: Sequence[str],
    sums: Mapping[str, nw.Expr],
    start: Moment,
    end: Moment,
) -> History:
    """Aggregate the days `start` to `end` of a log, lazily, in one group-by.

    `sums` are aggregations over `columns`, by the name they get in the table.
    """
    first, last = (
        period_named("day").parse(moment, name).astype(date)
        for name, moment in (("start", start), ("end", end))
    )
    if first > last:
        raise InputError(f"start {first} is after end {last}; exchange them.")
    frame, kind = open_events(log, "history", [id, clock.column, *columns])
    told = add_local_time(frame, clock, "history")
    day = local_day(told.collect_schema())
    inside = told.with_columns(day.is_between(first, last).alias(INSIDE))
    grouped = collect(
        inside.group_by(id, INSIDE).agg(
            nw.len().alias(ROWS), *(total.alias(name) for name, total in sums.items())
        )
    )
    if grouped.height == 0:
        raise InputError("history has no rows; hand over at least one event.")
    if grouped[INSIDE].null_count():
        refuse_unreadable(told, clock, "history")
    kept = grouped.filter(pl.col(INSIDE)).drop(INSIDE)
    total, seen = int(grouped[ROWS].sum()), int(kept[ROWS].sum())
    kept = kept.with_columns(whole_labels(kept[id], "history"))
    table = kept.filter(pl.col(id).is_not_null()).sort(id)
    if table.height == 0:
        raise InputError(
            f"history has no row with column {id} filled in from {first} to {last} among its "
            f"{plural(total)}; choose dates that the log covers."
        )
    return History(
        table=table.rename({ROWS: "rows"}),
        frame=frame,
        kind=kind,
        start=first,
        end=last,
        rows=seen,
        rows_outside=total - seen,
        rows_without_id=seen - int(table[ROWS].sum()),
    )
