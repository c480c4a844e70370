r"""Levels times profiles: how much is going on, and which weekdays are busy.

One candidate has a gain of the level, a gain of the weekday profile and a number of
weeks that a flat profile is worth at first. With gain g the level is a ratio of fading sums,

.. math:: \ell_t = \frac{\sum_s (1-g)^{t-s} \tilde N_s}{\sum_s (1-g)^{t-s} p_{d(s)}}

of arrivals over the profile of their weekdays, so that a closed Saturday does not lower it; from
the third week on a day that is e times more or less than expected counts as just that. The
profile moves towards N / level by its gain, or by one over the number of such weekdays
seen, whichever is more.
"""

from itertools import product

import numpy as np
from jaxtyping import Float

LEVEL_GAINS = (0.01, 0.03, 0.06, 0.1, 0.2, 0.35, 0.5, 0.8)
PROFILE_GAINS = (0.02, 0.05, 0.15, 0.3)
FLAT_WEEKS = (0.0, 3.0)
PROFILED = tuple(product(LEVEL_GAINS, PROFILE_GAINS, FLAT_WEEKS))
"""Every candidate."""
SETTLED = 14
"""Days after which a surprising day is cut to e times what was expected."""
LEAST_LEVEL = 0.05
"""Arrivals a day below which a weekday's share of the level means nothing."""


class Profiles:
    """Levels and profiles of all candidates, as they stand after the days seen."""

    def __init__(self, series: int, cycle: int) -> None:
        self._level_gain, self._profile_gain, self._flat = np.array(PROFILED).T[:, :, None]
        self._level = np.zeros((len(PROFILED), series))
        self._profile = np.ones((cycle, len(PROFILED), series))
        self._sum = np.zeros_like(self._level)
        self._weight = np.zeros_like(self._level)
        self._seen = np.zeros(cycle)
        self._days = 0

    def ahead(self, place: int | np.integer) -> Float[np.ndarray, "profiled series"]:
        return np.asarray(self._level * self._profile[place])

    def see(self, today: Float[np.ndarray, " series"], place: int) -> None:
        share = self._profile[place]
        expected = self._level * share
        counted = np.broadcast_to(today, expected.shape)
        if self._days >= SETTLED:
            counted = np.clip(counted, expected / np.e, expected * np.e + 1)
        keep = 1 - self._level_gain
        self._sum = keep * self._sum + counted
        self._weight = keep * self._weight + share
        level = self._sum / np.maximum(self._weight, 1e-9)
        self._seen[place] += 1
        gain = np.maximum(self._profile_gain, 1 / (self._seen[place] + self._flat))
        known = level if self._days < len(self._profile) else self._level
        told = known > LEAST_LEVEL
        ratio = np.where(told, today / np.where(told, known, 1.0), share)
        self._profile[place] = share + gain * (np.clip(ratio, 0, 4 * share + 0.5) - share)
        mean = np.maximum(self._profile.mean(0), 1e-9)
        self._profile /= mean
        self._sum *= mean
        self._level = level * mean
        self._days += 1
