"""Who is called what: labels of people or units, fixed once and put on events lazily."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.engines import known_frame, schema_with
from dgd.counting.history import KnownIds
from dgd.counting.labelling import label_in_memory, label_lazily
from dgd.errors import InputError
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label


@dataclass(frozen=True)
class Assignment:
    """Labels fixed from a stated history, and how many stand behind each label.

    Example:
        Cohorts go from the history to the panel::

            cohorts = dgd.newcomer_cohorts(log, clock, person="user", start=first, end=last)
            labelled = cohorts.assign(log)
            counts = dgd.count_events(labelled, clock, cohort=cohorts.name, behaviors=["click"])
            dgd.Panel.from_counts(
                counts, behaviors=["click"], sizes=cohorts.sizes, cohorts=cohorts.labels
            )
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

        Args:
            events: Events with the column `id`, on any engine that `count_events` reads.

        Returns:
            A frame of the kind handed over.

        Raises:
            InputError: The events have no column `id`, or already one called `name`.
        """
        frame = known_frame(events, "events")
        if self.name in schema_with(frame, "events", [self.id]):
            raise InputError(
                f'events already has a column "{self.name}"; drop it or choose another name=.'
            )
        lookup = nw.from_native(self.table).to_polars()
        if isinstance(frame, nw.LazyFrame):
            return label_lazily(frame, lookup, self.otherwise).to_native()
        return label_in_memory(frame, lookup, self.otherwise).to_native()


def fixed_by(
    known: KnownIds,
    *,
    ids: pl.Series,
    labels: Sequence[str],
    sizes: pl.DataFrame,
    otherwise: str,
) -> Assignment:
    """The assignment that gives each of the history's `ids` the label beside it."""
    name = sizes.columns[0]
    table = pl.DataFrame([ids, pl.Series(name, labels, dtype=pl.String)])
    return Assignment(
        table=from_polars(table, known.kind),
        sizes=from_polars(sizes, known.kind),
        labels=tuple(sizes[name]),
        id=ids.name,
        name=name,
        otherwise=otherwise,
        start=known.start,
        end=known.end,
        rows=known.rows,
        rows_outside=known.rows_outside,
        rows_without_id=known.rows_without_id,
    )
