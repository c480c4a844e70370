r"""Scores of arrival counts: of their mean, and of their distribution where one is forecast.

Arrays have axes [day, unit, cohort]: N_ct recorded, N^_ct forecast. A
distribution is a negative binomial of mean N^ and dispersion r, whose variance
is N^ + N^^2 / r; an infinite r makes it a Poisson's. Days without arrivals
count. Lower is better throughout.
"""

import numpy as np
from jaxtyping import Float
from scipy.special import betaincc, xlogy
from scipy.stats import nbinom

Recorded = Float[np.ndarray, "day unit cohort"]
Forecast = Float[np.ndarray, "day unit cohort"]

TAIL = 1e-13
"""Probability beyond which the sum of the CRPS stops; what is left out is below it."""

MOST_TERMS = 100_000
"""Terms of the CRPS evaluated for one count; with fewer the sum is exact."""

LARGEST_DISPERSION = 1e9
"""Beyond it, infinity included, the law is a Poisson's to all digits that matter."""


def arrival_mae(recorded: Recorded, forecast: Forecast) -> float:
    r"""Error of the day's total arrivals: :math:`mean_t |\sum_c \hat N_{ct} - \sum_c N_{ct}|`."""
    return float(np.abs((forecast - recorded).sum((1, 2))).mean())


def cell_arrival_mae(recorded: Recorded, forecast: Forecast) -> float:
    r"""Error of each unit's and cohort's arrivals: :math:`mean_{c,t} |\hat N_{ct} - N_{ct}|`.

    The CRPS of a forecast that is sure of its mean.
    """
    return float(np.abs(forecast - recorded).mean())


def negative_binomial_deviance(
    recorded: Recorded, forecast: Forecast, dispersion: Forecast | float
) -> float:
    r"""Mean deviance of the arrivals of a unit and cohort.

    .. math:: mean_{c,t}\; 2 \Big[N \log\frac{N}{\hat N}
        - (N + r) \log\frac{N + r}{\hat N + r}\Big], \qquad 0 \log 0 = 0

    Infinite where something arrived that was forecast to be impossible.
    """
    with np.errstate(divide="ignore"):
        own = np.where(recorded > 0, xlogy(recorded, recorded) - xlogy(recorded, forecast), 0.0)
    r = np.minimum(dispersion, LARGEST_DISPERSION)
    shared = (recorded + r) * np.log1p((recorded - forecast) / (forecast + r))
    return float(np.mean(2 * (own - shared)))


def negative_binomial_crps(
    recorded: Recorded, forecast: Forecast, dispersion: Forecast | float
) -> float:
    r"""Mean continuous ranked probability score of the arrivals of a unit and cohort.

    .. math:: mean_{c,t} \sum_{k \ge 0} \big(F_{ct}(k) - 1[k \ge N_{ct}]\big)^2

    F is the distribution function of the negative binomial. The sum is taken
    term by term until the rest is below 1e-13; in arrivals, like an absolute error.
    """
    r = np.broadcast_to(np.minimum(dispersion, LARGEST_DISPERSION), forecast.shape)
    days = [_crps(*(x.ravel() for x in day)) for day in zip(recorded, forecast, r, strict=True)]
    return float(np.mean(days))


def _crps(
    recorded: Float[np.ndarray, " cell"],
    mean: Float[np.ndarray, " cell"],
    dispersion: Float[np.ndarray, " cell"],
) -> Float[np.ndarray, " cell"]:
    """CRPS of each cell; the terms of all cells lie one after another in flat arrays.

    Where there are too many terms, blocks of them are represented by their
    middle, so that a forecast that explodes can still be scored.
    """
    share = mean / (dispersion + mean)
    last = np.maximum(recorded, nbinom.isf(TAIL, dispersion, 1 - share))
    length = np.ceil((last + 1) / MOST_TERMS)
    blocks = np.ceil((last + 1) / length).astype(np.int64)
    first = np.cumsum(blocks) - blocks
    cell = np.repeat(np.arange(len(mean)), blocks)
    start = (np.arange(blocks.sum()) - first[cell]) * length[cell]
    middle = start + (length[cell] - 1) / 2
    below = betaincc(middle + 1, dispersion[cell], share[cell])
    reached = np.clip((start - recorded[cell]) / length[cell] + 1, 0, 1)
    terms = (1 - reached) * below**2 + reached * (1 - below) ** 2
    return np.asarray(np.add.reduceat(terms, first) * length)
