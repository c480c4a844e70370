"""Hash buckets of an identifier: the same everywhere, and from no history."""

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.assignment import Assignment
from dgd.counting.engines import ROWS, collect, open_events, rows_in
from dgd.counting.whole_ids import refuse_rounded_ids, whole_labels
from dgd.errors import InputError
from dgd.tables.frames import from_polars
from dgd.tables.hashing import hash_bucket

__all__ = ["hash_bucket", "hash_buckets"]


def hash_buckets(
    events: IntoFrame, *, id: str, buckets: int = 64, name: str = "bucket"
) -> Assignment:
    """The bucket 0 ... `buckets` - 1 of every identifier in `events`.

    A bucket depends on the identifier alone, so there is no history range. Sizes are
    the numbers of distinct identifiers. Missing identifiers get no bucket (null).

    Args:
        events: Events on any engine that `count_events` reads.
        id: The column of identifiers.
        buckets: How many buckets there are.
        name: The column that holds the bucket.

    Returns:
        Which identifier is in which bucket, ready to label events.

    Raises:
        InputError: No event has an identifier.
    """
    if buckets < 1:
        raise InputError(f"buckets is {buckets}; choose at least one.")
    frame, kind = open_events(events, "events", [id])
    refuse_rounded_ids(frame, id, "events")
    rows = collect(frame.group_by(id).agg(nw.len().alias(ROWS)))
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
        rows=rows_in(rows),
        rows_outside=0,
        rows_without_id=rows_in(rows.filter(pl.col(id).is_null())),
    )
