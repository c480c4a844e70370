r"""Smoothers of arrivals: a level that follows the days, times a profile of the weekday.

One candidate has a gain of the level, a gain of the weekday profile and a number of
weeks that a flat profile is worth at first. With gain g the level is a ratio of fading sums,

.. math:: \ell_t = \frac{\sum_s (1-g)^{t-s} \tilde N_s}{\sum_s (1-g)^{t-s} p_{d(s)}}

of arrivals over the profile of their weekdays, so that a closed Saturday does not lower it; from
the third week on a day that is e times more or less than expected counts as just that. The
profile moves towards N / level by its gain, or by one over the number of such weekdays
seen, whichever is more. Two plainer kinds stand beside it: a level alone, and a mean of each
weekday alone, which is what a weekday history says.

All candidates of all series are walked at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Float, Int

LEVEL_GAINS = (0.01, 0.03, 0.06, 0.1, 0.2, 0.35, 0.5, 0.8)
PROFILE_GAINS = (0.02, 0.05, 0.15, 0.3)
FLAT_WEEKS = (0.0, 3.0)
PLAIN_GAINS = (0.01, 0.03, 0.06, 0.1, 0.2, 0.35, 0.5, 0.8, 1.0)
WEEKDAY_GAINS = (0.1, 0.2, 0.35, 0.6, 1.0)
SETTLED = 14
"""Days after which a surprising day is cut to e times what was expected."""
LEAST_LEVEL = 0.05
"""Arrivals a day below which a weekday's share of the level means nothing."""


@dataclass(frozen=True, eq=False)
class Smoothed:
    """What every candidate knows after a day, of every series."""

    plain: Float[np.ndarray, "plain series"]
    level: Float[np.ndarray, "profiled series"]
    profile: Float[np.ndarray, "place profiled series"]
    weekday: Float[np.ndarray, "place weekday series"]

    def ahead(self, place: int | np.integer) -> Float[np.ndarray, "candidate series"]:
        """Arrivals expected on a day of that place in the cycle, by every candidate."""
        if not len(self.profile):
            return self.plain
        profiled = self.level * self.profile[place]
        return np.concatenate([self.plain, profiled, self.weekday[place]])


def candidates(cycle: int) -> int:
    """How many candidates there are."""
    profiled = len(LEVEL_GAINS) * len(PROFILE_GAINS) * len(FLAT_WEEKS)
    return len(PLAIN_GAINS) + (profiled + len(WEEKDAY_GAINS) if cycle > 1 else 0)


def smoothed_days(
    arrivals: Float[np.ndarray, "day series"], places: Int[np.ndarray, " day"], cycle: int
) -> Iterator[Smoothed]:
    """Walk through the days; after each one, what all candidates know."""
    series = arrivals.shape[1]
    fade = 1 - np.array(PLAIN_GAINS)[:, None]
    plain_sum, plain_days = np.zeros((len(fade), series)), np.zeros((len(fade), 1))
    gains = np.array(list(product(LEVEL_GAINS, PROFILE_GAINS, FLAT_WEEKS)))
    walk = _Profiled(gains, series, cycle) if cycle > 1 else None
    weekly_fade = 1 - np.array(WEEKDAY_GAINS)[:, None]
    weekday_sum = np.zeros((cycle, len(weekly_fade), series))
    weekday_days = np.zeros((cycle, len(weekly_fade), 1))
    for today, place in zip(arrivals, places, strict=True):
        plain_sum = fade * plain_sum + today
        plain_days = fade * plain_days + 1
        plain = plain_sum / plain_days
        if walk is None:
            nothing = np.zeros((0, 0, series))
            yield Smoothed(plain, nothing.sum(0), nothing, nothing)
            continue
        walk.see(today, int(place))
        weekday_sum[place] = weekly_fade * weekday_sum[place] + today
        weekday_days[place] = weekly_fade * weekday_days[place] + 1
        overall = weekday_sum.sum(0) / weekday_days.sum(0)
        known = weekday_sum / np.maximum(weekday_days, 1e-9)
        yield Smoothed(
            plain,
            walk.level.copy(),
            walk.profile.copy(),
            np.where(weekday_days > 0, known, overall),
        )


class _Profiled:
    """Levels and profiles of all candidates with both, as they stand after the days seen."""

    def __init__(self, gains: Float[np.ndarray, "profiled 3"], series: int, cycle: int) -> None:
        self.level_gain, self.profile_gain, self.flat = gains.T[:, :, None]
        self.level = np.zeros((len(gains), series))
        self.profile = np.ones((cycle, len(gains), series))
        self._sum = np.zeros_like(self.level)
        self._weight = np.zeros_like(self.level)
        self._seen = np.zeros(cycle)
        self._days = 0

    def see(self, today: Float[np.ndarray, " series"], place: int) -> None:
        share = self.profile[place]
        expected = self.level * share
        counted = np.broadcast_to(today, expected.shape)
        if self._days >= SETTLED:
            counted = np.clip(counted, expected / np.e, expected * np.e + 1)
        keep = 1 - self.level_gain
        self._sum = keep * self._sum + counted
        self._weight = keep * self._weight + share
        level = self._sum / np.maximum(self._weight, 1e-9)
        self._seen[place] += 1
        gain = np.maximum(self.profile_gain, 1 / (self._seen[place] + self.flat))
        known = level if self._days < len(self.profile) else self.level
        told = known > LEAST_LEVEL
        ratio = np.where(told, today / np.where(told, known, 1.0), share)
        self.profile[place] = share + gain * (np.clip(ratio, 0, 4 * share + 0.5) - share)
        mean = np.maximum(self.profile.mean(0), 1e-9)
        self.profile /= mean
        self._sum *= mean
        self.level = level * mean
        self._days += 1
