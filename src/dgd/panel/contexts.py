"""Events by their own context: those alike in cell and context are counted together."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Float, Int

from dgd.model.days import EventGroups
from dgd.panel.grids import Axes, Columns, cell_of_rows

CELL = ("__dgd_day__", "__dgd_unit__", "__dgd_cohort__")


@dataclass(frozen=True, eq=False)
class EventCounts:
    """Pattern counts of groups of events, in order of date, unit and cohort."""

    names: tuple[str, ...]
    """The context columns, as the user calls them."""
    cell: Int[np.ndarray, "group 3"]
    """Day, unit and cohort number of every group."""
    context: Float[np.ndarray, "group context"]
    patterns: Int[np.ndarray, "group pattern"]
    """C(y) of every group."""

    @staticmethod
    def from_table(
        table: pl.DataFrame,
        names: Sequence[str],
        cell: Sequence[np.ndarray],
        count: str,
        patterns: int,
    ) -> "EventCounts":
        """Group the rows of a checked counts table by cell and context.

        `cell` holds each row's day, unit and cohort number; the column `pattern` its
        pattern number.
        """
        keys = [*CELL, *names]
        keyed = table.with_columns(
            *(pl.Series(key, index) for key, index in zip(CELL, cell, strict=True))
        )
        groups = keyed.select(keys).unique().sort(keys).with_row_index("__dgd_group__")
        placed = keyed.join(groups, on=keys, how="left", maintain_order="left")
        grid = np.zeros((groups.height, patterns), np.int64)
        at = (placed["__dgd_group__"].to_numpy(), placed["pattern"].to_numpy())
        np.add.at(grid, at, placed[count].to_numpy())
        return EventCounts(
            names=tuple(names),
            cell=groups.select(CELL).to_numpy().astype(np.int64),
            context=groups.select(names).to_numpy().astype(np.float64).reshape(groups.height, -1),
            patterns=grid,
        )

    @staticmethod
    def of_cells(patterns: Int[np.ndarray, "date unit cohort pattern"]) -> "EventCounts":
        """Events that share everything with their cell: every cell with arrivals is a group."""
        cell = np.argwhere(patterns.sum(-1) > 0)
        return EventCounts((), cell, np.zeros((len(cell), 0)), patterns[tuple(cell.T)])

    def between(self, start: int, stop: int) -> "EventCounts":
        """The groups of the days from `start` up to, not including, `stop`, counted from there."""
        kept = (self.cell[:, 0] >= start) & (self.cell[:, 0] < stop)
        shift = np.array([start, 0, 0])
        return EventCounts(
            self.names, self.cell[kept] - shift, self.context[kept], self.patterns[kept]
        )

    def of_units(self, units: Int[np.ndarray, " some"]) -> "EventCounts":
        """The groups of some units, numbered in the order named."""
        place = np.full(max(int(self.cell[:, 1].max(initial=0)), int(units.max())) + 1, -1)
        place[units] = np.arange(len(units))
        kept = place[self.cell[:, 1]] >= 0
        cell = self.cell[kept]
        cell[:, 1] = place[cell[:, 1]]
        order = np.lexsort(cell.T[::-1])
        return EventCounts(
            self.names, cell[order], self.context[kept][order], self.patterns[kept][order]
        )

    def one_by_one(self) -> "EventCounts":
        """Every event as a group of its own."""
        group, pattern = np.nonzero(self.patterns)
        times = self.patterns[group, pattern]
        group, pattern = np.repeat(group, times), np.repeat(pattern, times)
        shown = np.zeros((len(group), self.patterns.shape[1]), np.int64)
        shown[np.arange(len(group)), pattern] = 1
        return EventCounts(self.names, self.cell[group], self.context[group], shown)

    def groups(self, dates: int, units: int, cohorts: int) -> EventGroups:
        """The groups as the model reads them, on a grid of that many cells."""
        day, unit, cohort = self.cell.T
        return EventGroups(
            cell=jnp.asarray((day * units + unit) * cohorts + cohort),
            context=jnp.asarray(self.context),
            patterns=jnp.asarray(self.patterns.T.astype(np.float64)),
            starts=tuple(np.searchsorted(day, np.arange(dates + 1)).tolist()),
            cells_per_date=units * cohorts,
        )


def events_of(
    table: pl.DataFrame, context: Sequence[str], columns: Columns, axes: Axes, patterns: int
) -> EventCounts | None:
    """The counts by context, where there is any."""
    if not context:
        return None
    cell = cell_of_rows(table, columns, axes)
    return EventCounts.from_table(table, context, cell, columns.count, patterns)
