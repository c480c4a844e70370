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
from scipy.stats import beta

LARGEST_DISPERSION = 1e9
"""Beyond it, infinity included, the law is a Poisson's to all digits that matter."""

SCORED_DISPERSION = 1e15
"""Stands for infinity in the CRPS, whose relative error is then below m / r."""

STEP = 1 / 12
POINTS = np.arange(0.0, 7.0, STEP)
"""Of the trapezoid rule in `half_mean_difference`; its relative error is below 1e-12."""

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
    count: Float[np.ndarray, "*cell"],
    mean: Float[np.ndarray, "*cell"],
    dispersion: Float[np.ndarray, "*cell"] | float,
) -> Float[np.ndarray, "*cell"]:
    r"""Continuous ranked probability score of each count, in closed form.

    .. math:: \sum_{k \ge 0} \big(F(k) - 1[k \ge N]\big)^2 = E|X - N| - \tfrac12 E|X - X'|

    X and X' are independent counts of the forecast law, F is their distribution function. With
    q = m / (m + r) and the beta distribution of parameters N + 1 and r, which exceeds q with
    probability F(N) and has the density b there,

    .. math:: E|X - N| = (N - m) (2 F(N) - 1) + 2 q\, b(q;\, N + 1, r)

    Where q is nearly one it would be rounded, so 1 - q is used there with the parameters swapped.
    """
    r = np.minimum(dispersion, SCORED_DISPERSION)
    few = mean < r
    smaller = np.minimum(mean, r) / (mean + r)
    shape = np.where(few, count + 1, r), np.where(few, r, count + 1)
    part, density = betaincc(*shape, smaller), beta.pdf(smaller, *shape)
    below = np.where(few, part, 1 - part)
    distance = (count - mean) * (2 * below - 1) + 2 * mean / (mean + r) * density
    return np.maximum(distance - half_mean_difference(mean, r), 0.0)


def half_mean_difference(
    mean: Float[np.ndarray, "*cell"], dispersion: Float[np.ndarray, "*cell"] | float
) -> Float[np.ndarray, "*cell"]:
    r"""Half the expected distance of two counts of the same law.

    .. math:: \tfrac12 E|X - X'| = m (1 + \tfrac{m}{r})\,
        {}_2F_1(r + 1, \tfrac12; 2; -c) = \frac{r c}{\pi} \int_0^\infty
        \Big(1 + \frac{c t^2}{1 + t^2}\Big)^{-r - 1} \frac{dt}{(1 + t^2)^2}, \qquad
        c = \frac{4 m}{r} \Big(1 + \frac{m}{r}\Big)

    SciPy's hypergeometric function overflows where m or r is large; in the integral nothing can
    cancel. With t = sinh(2 sinh(v / 2)) / sqrt(1 + c (r + 1)) the integrand is about equally
    wide for every m and r, and the trapezoid rule in v converges exponentially.
    """
    ratio = mean / dispersion
    c = 4 * ratio * (1 + ratio)
    width = 1 + c * (dispersion + 1)
    total = np.zeros_like(mean)
    for v in POINTS:
        u = 2 * np.sinh(v / 2)
        square = np.sinh(u) ** 2 / width
        weight = np.cosh(u) * np.cosh(v / 2) * (STEP if v > 0 else STEP / 2)
        power = (dispersion + 1) * np.log1p(c * square / (1 + square))
        total += weight * np.exp(-power) / (1 + square) ** 2
    return np.asarray(4 * mean * (1 + ratio) / np.pi * total / np.sqrt(width))


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
