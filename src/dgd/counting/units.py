"""Units worth their own row, and hash buckets of an identifier."""

import hashlib

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.assignment import Assignment
from dgd.counting.engines import collect, open_events, whole_labels
from dgd.counting.history import read_history
from dgd.errors import InputError
from dgd.tables.clock import Clock
from dgd.tables.frames import from_polars
from dgd.tables.periods import Moment


def top_units(
    history: IntoFrame,
    clock: Clock,
    *,
    unit: str,
    n: int,
    start: Moment,
    end: Moment,
    rest: str = "rest",
    name: str = "unit",
) -> Assignment:
    """The `n` units with the most events in the history; all others are pooled as `rest`.

    Equal numbers of events: the smaller id comes first. Labels are the ids written as
    text, most events first, then `rest`. Sizes are the numbers of events.
    """
    if n < 1:
        raise InputError(f"n is {n}; keep at least one unit.")
    known = read_history(
        history,
        clock,
        id=unit,
        columns=[],
        sums={},
        start=start,
        end=end,
    )
    ranked = known.table.sort("rows", unit, descending=[True, False])
    top = ranked.head(n)
    labels = [str(label) for label in top[unit]]
    if rest in labels:
        raise InputError(f'rest="{rest}" is itself one of the {n} top units; choose another.')
    table = pl.DataFrame([top[unit], pl.Series(name, labels, dtype=pl.String)])
    pooled = known.rows - int(top["rows"].sum())
    sizes = pl.DataFrame(
        {name: [*labels, rest], "size": [*top["rows"].cast(pl.Float64), float(pooled)]}
    )
    return Assignment(
        table=from_polars(table, known.kind),
        sizes=from_polars(sizes, known.kind),
        labels=(*labels, rest),
        id=unit,
        name=name,
        otherwise=rest,
        start=known.start,
        end=known.end,
        rows=known.rows,
        rows_outside=known.rows_outside,
        rows_without_id=known.rows_without_id,
    )


def hash_bucket(identifier: str | int, buckets: int = 64) -> int:
    """SHA-256 of the identifier as text (integers in decimal), first eight bytes
    big-endian, modulo `buckets`."""
    digest = hashlib.sha256(str(identifier).encode()).digest()
    return int.from_bytes(digest[:8], "big") % buckets


def hash_buckets(
    events: IntoFrame, *, id: str, buckets: int = 64, name: str = "bucket"
) -> Assignment:
    """The bucket 0 ... `buckets` - 1 of every identifier in `events`.

    A bucket depends on the identifier alone, so there is no history range. Sizes are
    the numbers of distinct identifiers. Missing identifiers get no bucket (null).
    """
    if buckets < 1:
        raise InputError(f"buckets is {buckets}; choose at least one.")
    frame, kind = open_events(events, "events", [id])
    rows = collect(frame.group_by(id).agg(nw.len().alias("rows")))
    rows = rows.with_columns(whole_labels(rows[id], "events"))
    ids = rows.filter(pl.col(id).is_not_null())[id].sort()
    if len(ids) == 0:
        raise InputError(f"events has no row with column {id} filled in; there is nothing to hash.")
    of = pl.Series(name, [hash_bucket(value, buckets) for value in ids], dtype=pl.Int64)
    sizes = pl.DataFrame(
        {name: range(buckets), "size": [float((of == b).sum()) for b in range(buckets)]}
    )
    return Assignment(
        table=from_polars(pl.DataFrame([ids, of]), kind),
        sizes=from_polars(sizes, kind),
        labels=tuple(range(buckets)),
        id=id,
        name=name,
        otherwise=None,
        start=None,
        end=None,
        rows=int(rows["rows"].sum()),
        rows_outside=0,
        rows_without_id=int(rows.filter(pl.col(id).is_null())["rows"].sum()),
    )
