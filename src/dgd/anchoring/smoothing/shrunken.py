"""Fading counts of every cell, drawn to its unit and cohort: three arrivals are no rate yet."""

import numpy as np
from jaxtyping import Float

from dgd.anchoring.hierarchy import Hierarchy

HALF_LIVES = (3.0, 7.0, 20.0, 60.0, np.inf)
"""Days after which a count is worth half."""


class Shrunken:
    """Fading counts and exposures by every half-life, of days alike or by the rhythm of all."""

    def __init__(self, hierarchy: Hierarchy, units: int) -> None:
        self._hierarchy = hierarchy
        self._keep = 2.0 ** (-1 / np.array(HALF_LIVES))[:, None, None]
        cells = (len(HALF_LIVES), units, len(hierarchy.shares))
        self._counts = np.zeros(cells)
        self._exposure = np.zeros((rhythms(len(hierarchy.rhythm)), *cells))

    def see(
        self,
        today: Float[np.ndarray, "unit cohort"],
        exposure: Float[np.ndarray, "unit cohort"],
        place: int,
    ) -> None:
        self._counts = self._keep * self._counts + today
        self._exposure = self._keep * self._exposure + self._busy(place) * exposure

    def ahead(self, place: int | np.integer) -> Float[np.ndarray, "shrunken unit cohort"]:
        """Arrivals per exposure on a day of that place: half-lives without a rhythm, then with."""
        rate = [self._hierarchy.shrunken(self._counts, exposure) for exposure in self._exposure]
        return np.concatenate(np.stack(rate) * self._busy(place))

    def _busy(self, place: int | np.integer) -> Float[np.ndarray, "rhythm 1 1 cohort"]:
        """How busy a day is taken to be, without a rhythm and with it."""
        rhythm = self._hierarchy.rhythm
        taken = [np.ones_like(rhythm[0]), rhythm[place]][: len(self._exposure)]
        return np.stack(taken)[:, None, None]


def rhythms(cycle: int) -> int:
    """How many rhythms are tried: none, and that of all units where there is one."""
    return 2 if cycle > 1 else 1


def shrunken_candidates(cycle: int) -> int:
    """How many candidates one hierarchy has."""
    return rhythms(cycle) * len(HALF_LIVES)
