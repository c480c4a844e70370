"""Arrivals with and without effort taken out: which of the two is steadier is for the data to say.

Effort multiplies how many people are reached. Where it is given, every smoother works twice: on
arrivals as they are and on arrivals per effort, which the effort of the day ahead turns back.
Effort is meant as far as it takes effect, in multiples of the usual one (`EffortCurve.relative`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int

from dgd.anchoring.smoothing.smoothers import Smoothers, are_means, candidates, smoothed_days

Walked: TypeAlias = tuple[Smoothers, Smoothers | None]
"""Smoothers of arrivals, and of arrivals per effort where effort was given."""
LEAST_REACH = 1e-9
"""Keeps series that nobody was reached in from dividing by nothing."""


@dataclass(frozen=True, eq=False)
class Exposed:
    """Series of arrivals, and the effort behind them, known for later days too."""

    counts: Float[np.ndarray, "day series"]
    effort: Float[np.ndarray, "known series"] | None
    """None where no effort was given."""

    @staticmethod
    def cells(
        arrivals: Float[np.ndarray, "day unit cohort"], effort: np.ndarray | None
    ) -> "Exposed":
        """Every cell a series."""
        counts = arrivals.reshape(len(arrivals), -1)
        return Exposed(counts, None if effort is None else effort.reshape(len(effort), -1))

    def total(self, reach: Float[np.ndarray, " series"]) -> "Exposed":
        """The sum of all; its effort is their mean, weighed by how many each effort `reach`es."""
        counts = self.counts.sum(1, keepdims=True)
        if self.effort is None:
            return Exposed(counts, None)
        return Exposed(counts, (self.effort @ reach / reach.sum())[:, None])

    def reach(self) -> Float[np.ndarray, " series"]:
        """Arrivals per effort of every series, over all its days."""
        if self.effort is None:
            return np.ones(self.counts.shape[1])
        worked = self.effort[: len(self.counts)].sum(0)
        return np.asarray((self.counts.sum(0) + LEAST_REACH) / np.maximum(worked, LEAST_REACH))

    def walked(self, places: Int[np.ndarray, " day"], cycle: int) -> Iterator[Walked]:
        """What smoothers know after every day: of arrivals, and of arrivals per effort."""
        plain = smoothed_days(self.counts, places, cycle)
        if self.effort is None:
            for state in plain:
                yield state, None
            return
        yield from zip(plain, smoothed_days(self._per_effort(), places, cycle), strict=True)

    def ahead(
        self, walked: Walked, day: int, place: int | np.integer, step: int
    ) -> Float[np.ndarray, "candidate series"]:
        """Arrivals expected `step` days ahead, on a `day` of that place, by every candidate."""
        plain, relative = walked
        expected = plain.ahead(place, step)
        if relative is None or self.effort is None:
            return expected
        return np.concatenate([expected, relative.ahead(place, step) * self.effort[day]])

    def candidates(self, cycle: int) -> int:
        return candidates(cycle) * (1 if self.effort is None else 2)

    def are_means(self, cycle: int) -> Bool[np.ndarray, " candidate"]:
        """Which of the candidates are means of some kind."""
        return np.tile(are_means(cycle), 1 if self.effort is None else 2)

    def _per_effort(self) -> Float[np.ndarray, "day series"]:
        """Arrivals per effort; a day without effort says what the day before it said."""
        assert self.effort is not None
        effort = self.effort[: len(self.counts)]
        rate = np.divide(self.counts, effort, out=np.zeros_like(self.counts), where=effort > 0)
        for before, (today, worked) in enumerate(zip(rate[1:], effort[1:], strict=True)):
            today[worked == 0] = rate[before][worked == 0]
        return rate
