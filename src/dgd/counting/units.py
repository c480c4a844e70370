"""Units worth a row of their own, and all others together."""

import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.assignment import Assignment, fixed_by
from dgd.counting.history import read_history
from dgd.errors import InputError
from dgd.tables.clock import Clock
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

    Args:
        history: One row per event, on any engine that `count_events` reads.
        clock: The time column of the history.
        unit: The column of units.
        n: How many units keep their name.
        start: First day of the history.
        end: Last day of the history, included.
        rest: What all other units, and missing ones, are called.
        name: The column that holds the unit's label.

    Returns:
        Which unit is called what, ready to label further events.

    Raises:
        InputError: The history has no rows in its range, times that cannot be read, or a
            top unit called `rest`.
    """
    if n < 1:
        raise InputError(f"n is {n}; keep at least one unit.")
    known = read_history(history, clock, id=unit, start=start, end=end)
    top = known.table.sort("rows", unit, descending=[True, False]).head(n)
    labels = [str(label) for label in top[unit]]
    if rest in labels:
        raise InputError(f'rest="{rest}" is itself one of the {n} top units; choose another.')
    pooled = known.rows - int(top["rows"].sum())
    return fixed_by(
        known,
        ids=top[unit],
        labels=labels,
        sizes=pl.DataFrame(
            {name: [*labels, rest], "size": [*top["rows"].cast(pl.Float64), float(pooled)]}
        ),
        otherwise=rest,
    )
