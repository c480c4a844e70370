"""Two cohorts: people the history knows, and everybody else."""

import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.assignment import Assignment
from dgd.counting.cohorts import cohorts_of
from dgd.counting.history import read_history
from dgd.tables.clock import Clock
from dgd.tables.periods import Moment


def newcomer_cohorts(
    history: IntoFrame,
    clock: Clock,
    *,
    person: str,
    start: Moment,
    end: Moment,
    known: str = "known",
    newcomers: str = "new",
    smoothing: float = 0.0,
    newcomer_size: float = 1.0,
    name: str = "cohort",
) -> Assignment:
    """People the history knows, and everybody else (missing ids too).

    Args:
        history: One row per event, on any engine that `count_events` reads.
        clock: The time column of the history.
        person: The column that says whose event it is.
        start: First day of the history.
        end: Last day of the history, included.
        known: The cohort of people whom the history knows.
        newcomers: The cohort of everybody else.
        smoothing: What is added to the known people to give their reference size.
        newcomer_size: The newcomers' reference size.
        name: The column that holds the cohort.

    Returns:
        Who belongs to which cohort, ready to label further events.

    Raises:
        InputError: The history has no rows in its range, or times that cannot be read.
    """
    seen = read_history(history, clock, id=person, start=start, end=end)
    return cohorts_of(
        seen,
        groups=pl.repeat(0, seen.table.height, dtype=pl.Int64, eager=True),
        labels=[known],
        newcomers=newcomers,
        smoothing=smoothing,
        newcomer_size=newcomer_size,
        name=name,
    )
