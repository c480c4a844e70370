"""Counts around their seasonal means, beside what chance alone gives.

In cell c, period t of season s shows y_tc of n_tc, and the season's mean is
p_cs = sum y / N_cs with N_cs = sum n over the season. Chance alone gives y_tc
the variance n_tc u_cs, where u = p (1 - p) for behaviours (binomial) and u = p
for arrivals per effort and size (Poisson). Around the estimated mean it is
n u (1 - n / N), and two periods of one season share -u n_t n_t' / N. All of
this is exact for chance alone, so that no degrees of freedom are left to count.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Shaped


@dataclass(frozen=True, eq=False)
class Departures:
    """How far every period of every cell is from the mean of its season."""

    expected: Float[np.ndarray, "period cell"]
    """n p: the count that the season's mean gives."""
    value: Float[np.ndarray, "period cell"]
    """y - n p."""
    noise: Float[np.ndarray, "period cell"]
    """n u: the variance of y by chance alone."""
    share: Float[np.ndarray, "period cell"]
    """n / N: how much of its season's mean is the period itself; 1 where it stands alone, and
    then it cannot depart."""
    fourth: Float[np.ndarray, "period cell"]
    """What counts that are not Gaussian add to the variance of the squared departure."""
    season: Int[np.ndarray, " period"]

    @property
    def variance(self) -> Float[np.ndarray, "period cell"]:
        """Of `value`, by chance alone."""
        return self.noise * (1.0 - self.share)

    @property
    def pull(self) -> Float[np.ndarray, "period cell"]:
        """n sqrt(u / N): products of two periods of a season are, but for the sign, the
        covariance of their departures."""
        return np.sqrt(self.noise * self.share)


def behavior_departures(
    shown: Shaped[np.ndarray, "period cell"],
    arrivals: Shaped[np.ndarray, "period cell"],
    season: Int[np.ndarray, " period"],
) -> Departures:
    """Of the arrivals that showed a behaviour, from a binomial law at the season's rate."""
    total = _of_season(arrivals, season)
    rate = _ratio(_of_season(shown, season), total)
    # p (1 - p) of an estimated rate is too small by one part in N.
    unit = rate * (1.0 - rate) * _ratio(total, total - 1.0)
    return _departures(shown, arrivals, rate, unit, unit * (1.0 - 6.0 * unit), season)


def arrival_departures(
    arrivals: Shaped[np.ndarray, "period cell"],
    exposure: Shaped[np.ndarray, "period cell"],
    season: Int[np.ndarray, " period"],
) -> Departures:
    """Of arrivals from a Poisson law, in proportion to `exposure` (effort times size)."""
    rate = _ratio(_of_season(arrivals, season), _of_season(exposure, season))
    return _departures(arrivals, exposure, rate, rate, rate, season)


def _departures(
    counts: np.ndarray,
    trials: np.ndarray,
    mean: np.ndarray,
    unit_variance: np.ndarray,
    unit_fourth: np.ndarray,
    season: np.ndarray,
) -> Departures:
    share = _ratio(trials, _of_season(trials, season))
    # The squared departures of a season hold y_t^2 this many times.
    weight = 1.0 - 2.0 * share + _of_season(share**2, season)
    return Departures(
        expected=trials * mean,
        value=counts - trials * mean,
        noise=trials * unit_variance,
        share=share,
        fourth=trials * unit_fourth * weight**2,
        season=season,
    )


def _of_season(values: np.ndarray, season: np.ndarray) -> np.ndarray:
    """Sums over each period's season, given to every one of its periods."""
    sums = np.zeros((season.max() + 1, values.shape[1]))
    np.add.at(sums, season, values)
    return np.asarray(sums[season])


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, and 0 where there is nothing to divide by."""
    return np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)
