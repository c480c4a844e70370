r"""The negative binomial of counts: log-probability, draws, deviance, CRPS, dispersion.

Everywhere in dgd a count N has mean m and dispersion r, so that its variance is
m + m^2 / r; an infinite r makes it a Poisson's.

.. math:: \log p(N) = \log\frac{\Gamma(N + r)}{\Gamma(r)\, N!}
    - r \log(1 + m/r) + N \big[\log(m/r) - \log(1 + m/r)\big]
"""

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln
from jaxtyping import Array, Float, Int
from scipy.special import betaincc, xlogy
from scipy.special import gammaln as exact_gammaln
from scipy.stats import nbinom

TAIL = 1e-13
"""Probability beyond which the sum of the CRPS stops; what is left out is below it."""

MOST_TERMS = 100_000
"""Terms of the CRPS evaluated for one count; with fewer the sum is exact."""

LARGEST_DISPERSION = 1e9
"""Beyond it, infinity included, the law is a Poisson's to all digits that matter."""

LARGEST_MEAN = 2.0**53
"""Counts are drawn with means up to here, where whole numbers are still exact."""

POOLED_DAYS = 28.0
"""Days of a cohort that weigh as much as what all cohorts say about its scatter."""

LEAST_SQUARE = 1e-9
"""Squared means below which nothing can be told about scatter."""


def log_constant(
    count: Float[np.ndarray, "*cell"], dispersion: float
) -> Float[np.ndarray, "*cell"]:
    """The part of the log-probability that the mean does not move, for a fixed dispersion."""
    return np.asarray(
        exact_gammaln(count + dispersion) - exact_gammaln(count + 1.0) - exact_gammaln(dispersion)
    )


def log_kernel(
    count: Float[Array, "*cell"], mean: Float[Array, "*cell"], dispersion: Float[Array, "*cell"]
) -> Float[Array, "*cell"]:
    """The part of the log-probability that the mean moves.

    Written in m/r, which stays exact where r is large and the law nearly a Poisson's.
    """
    ratio = mean / dispersion
    log_total = jnp.log1p(ratio)
    return -dispersion * log_total + count * (jnp.log(ratio) - log_total)


def log_probability(
    count: Float[Array, "*cell"], mean: Float[Array, "*cell"], dispersion: Float[Array, "*cell"]
) -> Float[Array, "*cell"]:
    """log p(N), whatever of mean and dispersion is being learned."""
    constant = gammaln(count + dispersion) - gammaln(dispersion) - gammaln(count + 1.0)
    return constant + log_kernel(count, mean, dispersion)


def draw(
    rng: np.random.Generator,
    mean: Float[np.ndarray, "*cell"],
    dispersion: Float[np.ndarray, "*cell"] | float,
) -> Int[np.ndarray, "*cell"]:
    """Counts of the given means: Poisson counts whose means scatter like a gamma."""
    r = np.minimum(dispersion, LARGEST_DISPERSION)
    return np.asarray(rng.poisson(np.minimum(rng.gamma(r, mean / r), LARGEST_MEAN)))


def deviance(
    count: Float[np.ndarray, "*cell"],
    mean: Float[np.ndarray, "*cell"],
    dispersion: Float[np.ndarray, "*cell"] | float,
) -> Float[np.ndarray, "*cell"]:
    r"""Twice the log-probability lost against a mean that equals the count.

    .. math:: 2 \Big[N \log\frac{N}{m} - (N + r) \log\frac{N + r}{m + r}\Big], \qquad 0 \log 0 = 0

    Infinite where something arrived that was forecast to be impossible.
    """
    with np.errstate(divide="ignore"):
        own = np.where(count > 0, xlogy(count, count) - xlogy(count, mean), 0.0)
    r = np.minimum(dispersion, LARGEST_DISPERSION)
    shared = (count + r) * np.log1p((count - mean) / (mean + r))
    return np.asarray(2 * (own - shared))


def crps(
    count: Float[np.ndarray, " cell"],
    mean: Float[np.ndarray, " cell"],
    dispersion: Float[np.ndarray, " cell"],
) -> Float[np.ndarray, " cell"]:
    r"""Continuous ranked probability score of each count.

    .. math:: \sum_{k \ge 0} \big(F(k) - 1[k \ge N]\big)^2

    F is the distribution function. The sum is taken term by term until the rest is below
    1e-13; the terms of all cells lie one after another in flat arrays. Where there are too
    many terms, blocks of them are represented by their middle, so that a forecast that
    explodes can still be scored.
    """
    r = np.minimum(dispersion, LARGEST_DISPERSION)
    share = mean / (r + mean)
    last = np.maximum(count, nbinom.isf(TAIL, r, 1 - share))
    length = np.ceil((last + 1) / MOST_TERMS)
    blocks = np.ceil((last + 1) / length).astype(np.int64)
    first = np.cumsum(blocks) - blocks
    cell = np.repeat(np.arange(len(mean)), blocks)
    start = (np.arange(blocks.sum()) - first[cell]) * length[cell]
    middle = start + (length[cell] - 1) / 2
    below = betaincc(middle + 1, r[cell], share[cell])
    reached = np.clip((start - count[cell]) / length[cell] + 1, 0, 1)
    terms = (1 - reached) * below**2 + reached * (1 - below) ** 2
    return np.asarray(np.add.reduceat(terms, first) * length)


def measured_dispersion(
    count: Float[np.ndarray, "*cell"], mean: Float[np.ndarray, "*cell"]
) -> float:
    r"""r by the method of moments, one for all counts; infinite where they scatter no more
    than a Poisson's.

    .. math:: r = \frac{\sum m^2}{\sum [(N - m)^2 - m]}
    """
    excess = float(((count - mean) ** 2 - mean).sum())
    square = float((mean**2).sum())
    return square / excess if excess > 0 and square > 0 else np.inf


def pooled_inverse(
    excess: Float[np.ndarray, " cohort"], square: Float[np.ndarray, " cohort"], days: int
) -> Float[np.ndarray, " cohort"]:
    r"""1/r of every cohort by the method of moments, drawn to that of all cohorts.

    .. math:: \frac{1}{r_g} = w \frac{E_g}{S_g} + (1 - w) \frac{\sum_g E_g}{\sum_g S_g}, \qquad
        w = \frac{days}{days + 28}

    where E is the sum of variances beyond a Poisson's and S that of squared means; neither part
    is less than zero.
    """
    own = np.maximum(excess / np.maximum(square, LEAST_SQUARE), 0.0)
    pooled = max(excess.sum() / max(square.sum(), LEAST_SQUARE), 0.0)
    weight = days / (days + POOLED_DAYS)
    return np.asarray(weight * own + (1 - weight) * pooled)
