"""Histories of units among many: their own from their own counts, the rest from everyone's.

A forecast needs no more of a history than how it stands at its origin, which sparse counts give
without a grid of all days.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from dgd.anchoring.chains import Sums
from dgd.anchoring.levels import LEAST_PROBABILITY, Daily, Level, fading_sums, pooled
from dgd.panel.everyone import Everyone
from dgd.panel.pattern_counts import PatternCounts


def everyone_daily(everyone: Everyone, stop: int) -> Daily:
    """What all units counted on the days before the one of number `stop`, as of one unit."""
    return np.asarray(everyone.patterns[:stop, None], np.float64)


def sums_at(counts: PatternCounts, everyone: Everyone, origins: Int[np.ndarray, " origin"]) -> Sums:
    """Fading sums through each of the origins, which stand where days stand elsewhere."""
    daily = everyone_daily(everyone, int(origins.max()) + 1)
    _, units, cohorts, patterns = counts.shape
    day, unit, cohort = counts.day, counts.unit.astype(np.int64), counts.cohort
    of_cell = (unit * cohorts + cohort) * patterns + counts.pattern
    of_unit = unit * patterns + counts.pattern
    found: dict[tuple[Level, float], np.ndarray] = {}

    def own(level: Level, half_life: float) -> np.ndarray:
        place, across = (of_cell, cohorts) if level == "cell" else (of_unit, 1)
        sums = np.empty((len(origins), units * across * patterns))
        for row, origin in enumerate(origins):
            faded = np.where(day <= origin, counts.count * 2.0 ** ((day - origin) / half_life), 0.0)
            sums[row] = np.bincount(place, faded, sums.shape[1])
        return sums.reshape(len(origins), units, across, patterns)

    def sums(level: Level, half_life: float) -> np.ndarray:
        if (level, half_life) not in found:
            if level in ("unit", "cell"):
                found[level, half_life] = own(level, half_life)
            else:
                found[level, half_life] = fading_sums(pooled(daily, level), half_life)[origins]
        return found[level, half_life]

    return sums


def sparse_loss(daily: Daily, days: Int[np.ndarray, " target"]) -> Callable[[Daily, int], float]:
    """Joint NLL per arrival of what was said so many days before each of the days; only what
    occurred is looked at."""
    day, *place = np.nonzero(daily[days])
    count, target = daily[days][day, *place], days[day]

    def loss(said: Daily, step: int) -> float:
        known = target >= step
        probable = said[(target - step)[known], *(at[known] for at in place)]
        total = count[known] @ np.log(np.maximum(probable, LEAST_PROBABILITY))
        return float(-total / max(count[known].sum(), 1.0))

    return loss


def tilted_by_all(
    said: Float[np.ndarray, "origin unit cohort pattern"],
    factors: Float[np.ndarray, "tilt origin 1 cohorts pattern"],
    shares: Float[np.ndarray, " tilt_and_none"],
) -> Float[np.ndarray, "origin unit cohort pattern"]:
    """A mixture of tilts that all units share, the first without any.

    Each tilt multiplies what was said by its factor and divides by the sum; for many units both
    are products of matrices.
    """
    cells = said.swapaxes(1, 2)
    shape = (len(factors), *cells.shape[:2], cells.shape[-1])
    by_cohort = np.moveaxis(np.broadcast_to(factors[:, :, 0], shape), 0, -1)
    weights = shares[1:] / (cells @ by_cohort)
    mixed = cells * (shares[0] + weights @ by_cohort.swapaxes(-1, -2))
    return np.asarray(mixed.swapaxes(1, 2))
