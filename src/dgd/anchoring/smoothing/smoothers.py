"""All smoothers side by side: fading means, levels times profiles, medians, and deviations.

Which of them suits a table is not known before; how they did at past origins weighs them. All
candidates of all series are walked at once.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool, Float, Int

from dgd.anchoring.smoothing.deviations import DEVIATING, Deviations
from dgd.anchoring.smoothing.means import PLAIN_GAINS, WEEKDAY_GAINS, FadingMeans
from dgd.anchoring.smoothing.medians import LOOK_BACK, Medians
from dgd.anchoring.smoothing.profiles import PROFILED, Profiles

SLOW_GAINS = (0.03, 0.1)
SLOW_PROFILES = tuple((gain, of, 3.0) for gain in SLOW_GAINS for of in (0.05, 0.15))
STEADY_MEDIANS = (5, 8)
"""The bases that deviations are followed from: slow levels, and the longer medians."""


class Smoothers:
    """What every candidate knows after the days seen, of every series."""

    def __init__(self, series: int, cycle: int) -> None:
        self._plain = FadingMeans(PLAIN_GAINS, series)
        self._profiles = Profiles(series, cycle) if cycle > 1 else None
        self._weekdays = FadingMeans(WEEKDAY_GAINS, series, cycle) if cycle > 1 else None
        self._medians = Medians(series, cycle)
        self._deviations = Deviations(len(_bases(cycle)), series)
        self._bases = _bases(cycle)

    def see(self, today: Float[np.ndarray, " series"], place: int) -> None:
        self._deviations.see(today, self._steady(place)[self._bases])
        for kind in (self._plain, self._profiles, self._weekdays, self._medians):
            if kind is not None:
                kind.see(today, place)

    def ahead(self, place: int | np.integer, step: int) -> Float[np.ndarray, "candidate series"]:
        """Arrivals expected `step` days ahead, on a day of that place, by every candidate."""
        steady = self._steady(place)
        return np.concatenate([steady, self._deviations.ahead(steady[self._bases], step)])

    def _steady(self, place: int | np.integer) -> Float[np.ndarray, "steady series"]:
        kinds = (self._plain, self._profiles, self._weekdays, self._medians)
        return np.concatenate([kind.ahead(place) for kind in kinds if kind is not None])


def candidates(cycle: int) -> int:
    """How many candidates there are."""
    return _steady_candidates(cycle) + len(_bases(cycle)) * len(DEVIATING)


def are_means(cycle: int) -> Bool[np.ndarray, " candidate"]:
    """Which candidates are means of some kind: no medians, and no deviations from them."""
    steady = _steady_candidates(cycle)
    return np.arange(candidates(cycle)) < steady - len(LOOK_BACK)


def smoothed_days(
    arrivals: Float[np.ndarray, "day series"], places: Int[np.ndarray, " day"], cycle: int
) -> Iterator[Smoothers]:
    """Walk through the days; after each one, the same smoothers, which have now seen it too."""
    walked = Smoothers(arrivals.shape[1], cycle)
    for today, place in zip(arrivals, places, strict=True):
        walked.see(today, int(place))
        yield walked


def _steady_candidates(cycle: int) -> int:
    rhythmic = len(PROFILED) + len(WEEKDAY_GAINS) if cycle > 1 else 0
    return len(PLAIN_GAINS) + rhythmic + len(LOOK_BACK)


def _bases(cycle: int) -> list[int]:
    """Numbers of the steady candidates that deviations are followed from."""
    first_median = _steady_candidates(cycle) - len(LOOK_BACK)
    medians = [first_median + LOOK_BACK.index(days) for days in STEADY_MEDIANS]
    if cycle == 1:
        return [PLAIN_GAINS.index(gain) for gain in SLOW_GAINS] + medians
    return [len(PLAIN_GAINS) + PROFILED.index(slow) for slow in SLOW_PROFILES] + medians
