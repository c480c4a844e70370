"""What a stated range of days shows of each person or unit: one row per id."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.day_range import read_day, refuse_reversed
from dgd.counting.engines import ROWS, collect, open_events, rows_in
from dgd.counting.local_time import add_local_time, local_day
from dgd.counting.refusals import plural
from dgd.counting.unreadable_times import refuse_unreadable
from dgd.counting.whole_ids import refuse_rounded_ids, whole_labels
from dgd.errors import InputError
from dgd.tables import refusing
from dgd.tables.clock import Clock
from dgd.tables.periods import Moment

INSIDE = "__dgd_inside__"


@dataclass(frozen=True)
class KnownIds:
    """One row per id that a history knows, and an account of the rows that gave it."""

    id: str
    """The id column."""
    table: pl.DataFrame
    """The id column, `rows`, and the sums asked for; ids in ascending order."""
    frame: nw.LazyFrame[Any]
    """The log itself, for a closer look at bad rows."""
    kind: str
    """The kind of frame in which results go back to the user."""
    start: date
    end: date
    rows: int
    """Rows of the log within the range."""
    rows_outside: int
    rows_without_id: int


def _no_sums(_: Mapping[str, Any]) -> dict[str, nw.Expr]:
    return {}


def read_history(
    log: IntoFrame,
    clock: Clock,
    *,
    id: str,
    start: Moment,
    end: Moment,
    columns: Sequence[str] = (),
    sums: Callable[[Mapping[str, Any]], Mapping[str, nw.Expr]] = _no_sums,
) -> KnownIds:
    """Aggregate the days `start` to `end` of a log, lazily, in one group-by.

    Args:
        log: One row per event.
        clock: The time column of the log.
        id: The column of persons or units.
        start: First day of the history.
        end: Last day of the history, included.
        columns: Further columns that the sums need.
        sums: Given the types of the columns, what to add up per id, by the name it gets.

    Returns:
        One row per id, with `rows` and the sums.

    Raises:
        InputError: A column is missing, a time cannot be read, or no row with an id lies
            in the range.
    """
    first, last = read_day(start, "start"), read_day(end, "end")
    refuse_reversed(first, last)
    frame, kind = open_events(log, "history", [id, clock.column, *columns])
    refuse_rounded_ids(frame, id, "history")
    told = add_local_time(frame, clock, "history")
    day = local_day(told.collect_schema())
    totals = (total.alias(name) for name, total in sums(frame.collect_schema()).items())
    inside = told.with_columns(day.is_between(first, last).alias(INSIDE))
    grouped = collect(inside.group_by(id, INSIDE).agg(nw.len().alias(ROWS), *totals))
    refusing.refuse_empty(grouped, "history", "hand over at least one event")
    if grouped[INSIDE].null_count():
        refuse_unreadable(told, clock, "history")
    kept = grouped.filter(pl.col(INSIDE)).drop(INSIDE)
    kept = kept.with_columns(whole_labels(kept[id], "history"))
    table = kept.filter(pl.col(id).is_not_null()).sort(id)
    if table.height == 0:
        raise InputError(
            f"history has no row with column {id} filled in from {first} to {last} among its "
            f"{plural(rows_in(grouped))}; choose dates that the log covers."
        )
    return KnownIds(
        id=id,
        table=table.rename({ROWS: "rows"}),
        frame=frame,
        kind=kind,
        start=first,
        end=last,
        rows=rows_in(kept),
        rows_outside=rows_in(grouped) - rows_in(kept),
        rows_without_id=rows_in(kept) - rows_in(table),
    )
