"""What all units together counted, where a panel holds some of them.

Cohorts carry their states over all units, and histories of a cell are drawn to those of its cohort.
A part of a large panel (a block of units, the shard of a process) therefore knows the sums of all.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from dgd.model.bits import behavior_bits
from dgd.panel.pattern_counts import PatternCounts


@dataclass(frozen=True, eq=False)
class Everyone:
    """Counts of every cohort's joint patterns, all units together, and how many units these are."""

    patterns: Int[np.ndarray, "date cohort pattern"]
    units: int
    people: Float[np.ndarray, "date cohort"] | None = None
    """Sizes of all units that were there, together, where some were first seen after the fit."""

    @staticmethod
    def of(
        counts: PatternCounts,
        size: Float[np.ndarray, "date unit cohort"],
        since: Int[np.ndarray, " unit"] | None,
    ) -> "Everyone":
        """The units at hand, each from its day of number `since` on."""
        people = None
        if since is not None:
            there = np.arange(len(size))[:, None] >= since
            people = np.where(there[..., None], size, 0.0).sum(1)
        return Everyone(counts.of_cohorts(), counts.shape[1], people)

    @property
    def arrivals(self) -> Int[np.ndarray, "date cohort"]:
        return np.asarray(self.patterns.sum(-1))

    @property
    def behavior_counts(self) -> Int[np.ndarray, "date cohort behavior"]:
        bits = behavior_bits(self.patterns.shape[-1].bit_length() - 1).astype(np.int64)
        return np.asarray(self.patterns @ bits)

    def through(self, stop: int) -> "Everyone":
        """The days up to, not including, the one of number `stop`."""
        people = None if self.people is None else self.people[:stop]
        return Everyone(self.patterns[:stop], self.units, people)
