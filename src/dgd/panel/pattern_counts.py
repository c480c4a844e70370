"""Counts of joint patterns, kept sparse: most patterns of most cells never occur.

Entries of one unit lie next to each other, so that some units of a large panel are taken without
looking at the others. Whatever needs all 2^H numbers of a cell asks for the grid, which is made
once and refused where this machine could not hold it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from dgd.errors import InputError
from dgd.machine.memory import memory, shown_bytes
from dgd.model.bits import behavior_bits

SHARE_OF_MEMORY = 0.5
"""How much of the machine's memory a grid of counts may take."""


@dataclass(frozen=True, eq=False)
class PatternCounts:
    """C(y): how many arrivals of a cell showed each pattern, for those that any showed."""

    shape: tuple[int, int, int, int]
    """Dates, units, cohorts, patterns."""
    starts: Int[np.ndarray, " unit_and_one"]
    """How many entries lie before each unit, and how many there are in all."""
    day: Int[np.ndarray, " entry"]
    cohort: Int[np.ndarray, " entry"]
    pattern: Int[np.ndarray, " entry"]
    """Pattern number = sum of y_h 2^h."""
    count: Int[np.ndarray, " entry"]
    """At least 1."""

    @staticmethod
    def of(grid: Int[np.ndarray, "date unit cohort pattern"]) -> "PatternCounts":
        """The counts of a grid, which stays at hand."""
        by_unit = np.moveaxis(grid, 1, 0)
        unit, day, cohort, pattern = np.nonzero(by_unit)
        found = PatternCounts._sorted(
            grid.shape, unit, day, cohort, pattern, by_unit[unit, day, cohort, pattern]
        )
        found.__dict__["grid"] = np.asarray(grid, np.int64)
        return found

    @staticmethod
    def of_rows(
        shape: Sequence[int],
        day: Int[np.ndarray, " row"],
        unit: Int[np.ndarray, " row"],
        cohort: Int[np.ndarray, " row"],
        pattern: Int[np.ndarray, " row"],
        count: Int[np.ndarray, " row"],
    ) -> "PatternCounts":
        """The counts of rows in any order; those of one cell and pattern are added up."""
        days, _, cohorts, patterns = shape
        place = ((unit.astype(np.int64) * days + day) * cohorts + cohort) * patterns + pattern
        order = np.argsort(place, kind="stable")
        place, count = place[order], count[order]
        kept = count > 0
        place, count = place[kept], count[kept]
        first = np.flatnonzero(np.diff(place, prepend=-1))
        total = np.add.reduceat(count, first) if len(first) else count
        cell, pattern = np.divmod(place[first], patterns)
        day_of_unit, cohort = np.divmod(cell, cohorts)
        unit, day = np.divmod(day_of_unit, days)
        return PatternCounts._sorted(tuple(shape), unit, day, cohort, pattern, total)

    @staticmethod
    def _sorted(
        shape: Sequence[int],
        unit: np.ndarray,
        day: np.ndarray,
        cohort: np.ndarray,
        pattern: np.ndarray,
        count: np.ndarray,
    ) -> "PatternCounts":
        days, units, cohorts, patterns = (int(length) for length in shape)
        starts = np.searchsorted(unit, np.arange(units + 1))
        return PatternCounts(
            (days, units, cohorts, patterns),
            starts,
            day.astype(np.int32),
            cohort.astype(np.int32),
            pattern.astype(np.int32),
            count.astype(np.int64),
        )

    @property
    def entries(self) -> int:
        """How many patterns of how many cells occurred."""
        return len(self.count)

    @property
    def of_a_day(self) -> int:
        """How many numbers the grid has for a day."""
        return math.prod(self.shape[1:])

    @property
    def unit(self) -> Int[np.ndarray, " entry"]:
        return np.repeat(np.arange(self.shape[1], dtype=np.int32), np.diff(self.starts))

    @property
    def cell(self) -> Int[np.ndarray, " entry"]:
        """Place of each entry's cell on the grid of dates, units and cohorts."""
        _, units, cohorts, _ = self.shape
        return (self.day.astype(np.int64) * units + self.unit) * cohorts + self.cohort

    @property
    def places(self) -> Int[np.ndarray, " entry"]:
        """Place of each entry on the whole grid."""
        return self.cell * self.shape[3] + self.pattern

    @cached_property
    def grid(self) -> Int[np.ndarray, "date unit cohort pattern"]:
        """All counts, zeros included."""
        refuse_grid_beyond_memory(self.shape)
        found = np.zeros(math.prod(self.shape), np.int64)
        found[self.places] = self.count
        return found.reshape(self.shape)

    def arrivals(self) -> Int[np.ndarray, "date unit cohort"]:
        """N = sum over patterns of C(y)."""
        return self._by_cell(self.count)

    def behaviors(self) -> Int[np.ndarray, "date unit cohort behavior"]:
        """Y_h = sum over patterns of y_h C(y)."""
        bits = behavior_bits(self.shape[3].bit_length() - 1).astype(np.int64)
        shown = [self._by_cell(self.count * bit[self.pattern]) for bit in bits.T]
        return np.stack(shown, -1)

    def of_cohorts(self) -> Int[np.ndarray, "date cohort pattern"]:
        """Counts of all units together."""
        days, _, cohorts, patterns = self.shape
        place = (self.day.astype(np.int64) * cohorts + self.cohort) * patterns + self.pattern
        found = np.bincount(place, self.count, days * cohorts * patterns)
        return found.astype(np.int64).reshape(days, cohorts, patterns)

    def behaviors_of_cells(self) -> Int[np.ndarray, "unit cohort behavior"]:
        """How many arrivals showed each behaviour at every unit and cohort, all days together."""
        _, units, cohorts, patterns = self.shape
        bits = behavior_bits(patterns.bit_length() - 1)
        cell = self.unit.astype(np.int64) * cohorts + self.cohort
        shown = [
            np.bincount(cell, self.count * bit[self.pattern], units * cohorts).astype(np.int64)
            for bit in bits.T
        ]
        return np.stack(shown, -1).reshape(units, cohorts, -1)

    def of_unit_behaviors(self) -> Float[np.ndarray, "unit behavior"]:
        """How many arrivals of every unit showed each behaviour, all days and cohorts together."""
        bits = behavior_bits(self.shape[3].bit_length() - 1)
        unit = self.unit
        shown = [np.bincount(unit, self.count * bit[self.pattern], self.shape[1]) for bit in bits.T]
        return np.stack(shown, -1)

    def between(self, start: int, stop: int) -> "PatternCounts":
        """The days from `start` up to, not including, `stop`, counted from there."""
        kept = (self.day >= start) & (self.day < stop)
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        found = replace(
            self,
            shape=(max(stop - start, 0), *self.shape[1:]),
            starts=starts,
            day=self.day[kept] - np.int32(start),
            cohort=self.cohort[kept],
            pattern=self.pattern[kept],
            count=self.count[kept],
        )
        if "grid" in self.__dict__:
            found.__dict__["grid"] = self.grid[start:stop]
        return found

    def of_units(self, units: Int[np.ndarray, " some"]) -> "PatternCounts":
        """The counts of some units, in the order named."""
        lengths = np.diff(self.starts)[units]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        entry = np.arange(starts[-1]) + np.repeat(self.starts[:-1][units] - starts[:-1], lengths)
        days, _, cohorts, patterns = self.shape
        return PatternCounts(
            (days, len(units), cohorts, patterns),
            starts,
            self.day[entry],
            self.cohort[entry],
            self.pattern[entry],
            self.count[entry],
        )

    def _by_cell(self, values: Int[np.ndarray, " entry"]) -> Int[np.ndarray, "date unit cohort"]:
        cells = math.prod(self.shape[:3])
        return np.bincount(self.cell, values, cells).astype(np.int64).reshape(self.shape[:3])


def refuse_grid_beyond_memory(shape: Sequence[int], period: str = "day") -> None:
    """Refuse a grid that this machine could not hold, before it is made."""
    days, units, cohorts, patterns = shape
    needed, there = 8 * days * units * cohorts * patterns, memory()
    if there is not None and needed > SHARE_OF_MEMORY * there:
        raise InputError(
            f"{days:,} {period}s, {units:,} units, {cohorts:,} cohorts and {patterns:,} patterns "
            f"need {shown_bytes(needed)} at once, and this machine has {shown_bytes(there)}; "
            "ask for some of the units, or merge the rarest units, cohorts or behaviours."
        )
