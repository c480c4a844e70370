"""Cohorts of customers by how often they bought and how much they spent."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.assignment import Assignment
from dgd.counting.cohorts import cohorts_of
from dgd.counting.history import read_history
from dgd.counting.refusals import refuse_missing
from dgd.errors import InputError
from dgd.tables.clock import Clock
from dgd.tables.periods import Moment


def spending_cohorts(
    history: IntoFrame,
    clock: Clock,
    *,
    person: str,
    amount: str,
    start: Moment,
    end: Moment,
    order: str | None = None,
    newcomers: str = "new",
    smoothing: float = 0.0,
    newcomer_size: float = 1.0,
    name: str = "cohort",
) -> Assignment:
    """Single purchase, repeat with low spending, repeat with high spending, newcomers.

    Repeat customers are split at the median of their total spending; the median itself
    is low. Labels are "single", "repeat low", "repeat high", then `newcomers`.

    Args:
        history: One row per purchase, on any engine that `count_events` reads.
        clock: The time column of the history.
        person: The column that says who bought.
        amount: The column of money spent.
        start: First day of the history.
        end: Last day of the history, included.
        order: The column of the order or invoice; rows of one order are one purchase.
            Without it every row is a purchase of its own.
        newcomers: The cohort of customers whom the history does not know.
        smoothing: What is added to the people of every cohort but the newcomers' to give
            its reference size.
        newcomer_size: The newcomers' reference size.
        name: The column that holds the cohort.

    Returns:
        Who belongs to which cohort, ready to label further events.

    Raises:
        InputError: The history has no rows in its range, times that cannot be read, or
            amounts that are missing or no numbers.
    """

    def sums(schema: Mapping[str, Any]) -> dict[str, nw.Expr]:
        if not schema[amount].is_numeric():
            raise InputError(
                f"history column {amount} holds {schema[amount]}, not numbers; hand over amounts "
                "of money."
            )
        spent, unpriced = nw.col(amount).cast(nw.Float64), nw.col(amount).is_null()
        found = {"spent": spent.sum(), "unpriced": unpriced.cast(nw.Int64).sum()}
        return found if order is None else {**found, "orders": nw.col(order).n_unique()}

    columns = [amount] if order is None else [amount, order]
    known = read_history(
        history, clock, id=person, start=start, end=end, columns=columns, sums=sums
    )
    unpriced = int(known.table["unpriced"].sum())
    if unpriced:
        refuse_missing("history", amount, unpriced)
    purchases = known.table["rows" if order is None else "orders"]
    # Engines add in different orders; a millionth hides the difference, and no one's money.
    spent = known.table["spent"].round(6)
    repeat = purchases > 1
    middle = spent.filter(repeat).median()
    high = repeat & (spent > middle) if middle is not None else repeat
    return cohorts_of(
        known,
        groups=repeat.cast(pl.Int64) + high.cast(pl.Int64),
        labels=["single", "repeat low", "repeat high"],
        newcomers=newcomers,
        smoothing=smoothing,
        newcomer_size=newcomer_size,
        name=name,
    )
