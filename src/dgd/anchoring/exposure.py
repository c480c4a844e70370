"""Arrivals with and without effort taken out: which of the two is steadier is for the data to say.

Effort multiplies how many people are reached. Where it is given, every smoother works twice: on
arrivals as they are and on arrivals per effort, which the effort of the day ahead turns back.
Effort is meant as far as it takes effect, in multiples of the usual one (`EffortCurve.relative`).
Cells of many units have shrunken candidates besides, which count days or effort as exposure.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from dgd.anchoring.hierarchy import Hierarchy
from dgd.anchoring.smoothing.shrunken import Shrunken, shrunken_candidates
from dgd.anchoring.smoothing.smoothers import Smoothers, are_means, candidates, smoothed_days

LEAST_REACH = 1e-9
"""Keeps series that nobody was reached in from dividing by nothing."""


class Walked(NamedTuple):
    """What every kind of smoother knows after a day."""

    plain: Smoothers
    relative: Smoothers | None
    """Of arrivals per effort, where effort was given."""
    shrunken: tuple[Shrunken, ...]
    """By days and, where it was given, by effort; none where there are too few units."""


@dataclass(frozen=True, eq=False)
class Exposed:
    """Series of arrivals, and the effort behind them, known for later days too."""

    counts: Float[np.ndarray, "day series"]
    effort: Float[np.ndarray, "known series"] | None
    """None where no effort was given."""
    hierarchies: tuple[Hierarchy, ...] = ()
    """What the cells of many units have in common, by days and by effort."""
    there: Bool[np.ndarray, "day series"] | None = None
    """Which series had begun, where some came later; what is counted before stands for them."""

    @staticmethod
    def cells(
        arrivals: Float[np.ndarray, "day unit cohort"],
        effort: np.ndarray | None,
        hierarchies: tuple[Hierarchy, ...] = (),
        there: Bool[np.ndarray, "day unit"] | None = None,
    ) -> "Exposed":
        """Every cell a series."""
        counts = arrivals.reshape(len(arrivals), -1)
        begun = None if there is None else there.repeat(arrivals.shape[2], axis=1)
        efforts = None if effort is None else effort.reshape(len(effort), -1)
        return Exposed(counts, efforts, hierarchies, begun)

    @property
    def known(self) -> Bool[np.ndarray, " series"] | slice:
        """Which series have been there all along; the total is theirs, and what came later does
        not move it."""
        return slice(None) if self.there is None else self.there[0]

    def total(self, reach: Float[np.ndarray, " series"]) -> "Exposed":
        """The sum of all; its effort is their mean, weighed by how many each effort `reach`es."""
        known = self.known
        counts = self.counts[:, known].sum(1, keepdims=True)
        if self.effort is None:
            return Exposed(counts, None)
        effort, reach = self.effort[:, known], reach[known]
        return Exposed(counts, (effort @ reach / reach.sum())[:, None])

    def reach(self) -> Float[np.ndarray, " series"]:
        """Arrivals per effort of every series, over all its days."""
        if self.effort is None:
            return np.ones(self.counts.shape[1])
        worked = self.effort[: len(self.counts)].sum(0)
        return np.asarray((self.counts.sum(0) + LEAST_REACH) / np.maximum(worked, LEAST_REACH))

    def walked(self, places: Int[np.ndarray, " day"], cycle: int) -> Iterator[Walked]:
        """What smoothers know after every day: of arrivals, and of arrivals per effort."""
        plain = smoothed_days(self.counts, places, cycle)
        shrunken = self._shrunken_days(places)
        if self.effort is None:
            for of_counts, drawn in zip(plain, shrunken, strict=True):
                yield Walked(of_counts, None, drawn)
            return
        relative = smoothed_days(self._per_effort(), places, cycle)
        for day in zip(plain, relative, shrunken, strict=True):
            yield Walked(*day)

    def ahead(
        self, walked: Walked, day: int, place: int | np.integer, step: int
    ) -> Float[np.ndarray, "candidate series"]:
        """Arrivals expected `step` days ahead, on a `day` of that place, by every candidate."""
        efforts = () if self.effort is None else (self.effort[day],)
        expected = [walked.plain.ahead(place, step)]
        if walked.relative is not None:
            expected += [walked.relative.ahead(place, step) * effort for effort in efforts]
        for drawn, times in zip(walked.shrunken, (1.0, *efforts), strict=False):
            rates = drawn.ahead(place)
            expected.append(rates.reshape(len(rates), -1) * times)
        return np.concatenate(expected)

    def candidates(self, cycle: int) -> int:
        """How many there are, the shrunken ones last."""
        smoothers = candidates(cycle) * (1 if self.effort is None else 2)
        return smoothers + len(self.hierarchies) * shrunken_candidates(cycle)

    def are_means(self, cycle: int) -> Bool[np.ndarray, " candidate"]:
        """Which of the candidates are means of some kind."""
        smoothers = np.tile(are_means(cycle), 1 if self.effort is None else 2)
        shrunken = np.ones(self.candidates(cycle) - len(smoothers), bool)
        return np.concatenate([smoothers, shrunken])

    def with_hierarchies(
        self, places: Int[np.ndarray, " day"], cycle: int, cohorts: int
    ) -> "Exposed":
        """The same cells, of so many cohorts, with what their units have in common."""
        grid = (len(places), -1, cohorts)
        counts = self.counts.reshape(grid)
        learned = [
            Hierarchy.learned(counts, exposure.reshape(grid), places, cycle)
            for exposure in self._exposures()
        ]
        return replace(self, hierarchies=tuple(learned))

    def _exposures(self) -> tuple[Float[np.ndarray, "day series"], ...]:
        """Days and, where it was given, effort: what rates may be counted by."""
        days = np.ones_like(self.counts) if self.there is None else self.there.astype(np.float64)
        if self.effort is None:
            return (days,)
        return days, days * self.effort[: len(days)]

    def _shrunken_days(self, places: Int[np.ndarray, " day"]) -> Iterator[tuple[Shrunken, ...]]:
        if not self.hierarchies:
            yield from (() for _ in places)
            return
        cohorts = len(self.hierarchies[0].shares)
        grid = (-1, self.counts.shape[1] // cohorts, cohorts)
        exposures = [exposure.reshape(grid) for exposure in self._exposures()]
        walked = tuple(Shrunken(one, grid[1]) for one in self.hierarchies)
        counts = self.counts.reshape(grid) * exposures[0]  # what stands for a series is no count
        for number, place in enumerate(places):
            for one, exposure in zip(walked, exposures, strict=True):
                one.see(counts[number], exposure[number], int(place))
            yield walked

    def _per_effort(self) -> Float[np.ndarray, "day series"]:
        """Arrivals per effort; a day without effort says what the day before it said."""
        assert self.effort is not None
        effort = self.effort[: len(self.counts)]
        rate = np.divide(self.counts, effort, out=np.zeros_like(self.counts), where=effort > 0)
        for before, (today, worked) in enumerate(zip(rate[1:], effort[1:], strict=True)):
            today[worked == 0] = rate[before][worked == 0]
        return rate
