r"""Arrivals regressed on effort: a penalised quasi-Poisson fit whose cells have their own level.

.. math:: \log E[N_{jgt}] = \log n_{jgt} + a_{jg} + \beta^T k_{jgt} + h_g(\log x_{jgt}), \qquad
    h_g(l) = \epsilon_g l + \log\frac{1 + \kappa_g}{1 + \kappa_g e^{\epsilon_g l}}

where x is effort relative to the usual one and k what is known beside it. Elasticities scatter
around a value that all cohorts share; that value, and nothing else, is what few counts fall back
to. Levels have a closed form and are never part of the equations that are solved.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import minimize_scalar

ELASTICITIES = (0.02, 0.98)
"""Where training may start: within the sigmoid's reach of both ends."""
COMMON, COMMON_SPREAD = 0.5, 0.5
"""What elasticities are before any count: mean and standard deviation of the shared value ..."""
OWN_SPREAD = 0.25
"""... and of a cohort around it."""
KNOWN_SPREAD = 1.0
"""Of the effects of what is known beside effort, on the logarithm of arrivals."""
MOST_STEPS = 40
SETTLED = 1e-7
"""Steps that move nothing by more than this are the last."""


class Days(NamedTuple):
    """The training days as the regression sees them."""

    arrivals: Float[np.ndarray, "date unit cohort"]
    size: Float[np.ndarray, "date unit cohort"]
    """n; 0 where a cell says nothing."""
    known: Float[np.ndarray, "date unit cohort effect"]
    """k."""
    logarithm: Float[np.ndarray, "date unit cohort"]
    """log x; 0 where there was no effort."""
    varied: Bool[np.ndarray, " cohort"]
    """Cohorts whose elasticity is asked for; those of the others are 1."""


class Regression(NamedTuple):
    """What was found."""

    elasticity: Float[np.ndarray, " cohort"]
    """Not yet within `ELASTICITIES`."""
    effects: Float[np.ndarray, " effect"]
    dispersion: float
    """How many times the variance is that of a Poisson's, 1 at least."""


def regressed(days: Days, saturation: Float[np.ndarray, " cohort"]) -> Regression:
    """Elasticities and effects by reweighted least squares, steps halved until none does harm."""
    effects, elasticity = np.zeros(days.known.shape[-1]), np.where(days.varied, COMMON, 1.0)
    dispersion = 1.0
    for _ in range(MOST_STEPS):
        step = _step(days, saturation, effects, elasticity, dispersion)
        here = _objective(days, saturation, effects, elasticity, dispersion)
        share = 1.0
        while share > SETTLED:
            moved = (effects + share * step[0], elasticity + share * step[1])
            if _objective(days, saturation, *moved, dispersion) >= here:
                break
            share /= 2
        else:
            break
        effects, elasticity = moved
        dispersion = _dispersion(days, _expected(days, saturation, *moved), len(effects))
        if max(np.abs(part).max(initial=0.0) for part in step) * share < SETTLED:
            break
    return Regression(elasticity, effects, dispersion)


def profiled(days: Days, cohort: int, found: Regression, saturation: float) -> tuple[float, float]:
    """The best elasticity of one cohort at a saturation, and its quasi-log-likelihood.

    Effects that all cohorts share stay as they were found; the levels of its cells do not.
    """
    own = slice(cohort, cohort + 1)
    alone = Days(
        days.arrivals[:, :, own],
        days.size[:, :, own],
        days.known[:, :, own],
        days.logarithm[:, :, own],
        days.varied[own],
    )
    kappa = np.array([saturation])

    def loss(elasticity: float) -> float:
        mean = _expected(alone, kappa, found.effects, np.array([elasticity]))
        return -_quasi_likelihood(alone, mean) / found.dispersion

    best = minimize_scalar(loss, bounds=ELASTICITIES, method="bounded")
    return float(best.x), float(-best.fun)


def _curve(
    days: Days, saturation: np.ndarray, elasticity: np.ndarray
) -> tuple[Float[np.ndarray, "date unit cohort"], Float[np.ndarray, "date unit cohort"]]:
    """h and its slope in elasticity, which nobody asks for where effort never varied."""
    raised = saturation * np.exp(elasticity * days.logarithm)
    value = elasticity * days.logarithm + np.log1p(saturation) - np.log1p(raised)
    return value, np.where(days.varied, days.logarithm / (1 + raised), 0.0)


def _expected(
    days: Days, saturation: np.ndarray, effects: np.ndarray, elasticity: np.ndarray
) -> Float[np.ndarray, "date unit cohort"]:
    """Expected arrivals; every cell's level is such that they add up to those counted."""
    exponent = days.known @ effects + _curve(days, saturation, elasticity)[0]
    peak = exponent.max(0, keepdims=True)
    mean = days.size * np.exp(exponent - peak)
    total = mean.sum(0)
    return mean * np.divide(days.arrivals.sum(0), total, out=np.zeros_like(total), where=total > 0)


def _step(
    days: Days,
    saturation: np.ndarray,
    effects: np.ndarray,
    elasticity: np.ndarray,
    dispersion: float,
) -> tuple[np.ndarray, np.ndarray]:
    """By how much effects and elasticities move to where the linearised equations vanish."""
    mean = _expected(days, saturation, effects, elasticity)
    slope = _curve(days, saturation, elasticity)[1]
    total = np.maximum(mean.sum(0), 1e-300)
    known = days.known - (mean[..., None] * days.known).sum(0) / total[..., None]
    slope = slope - (mean * slope).sum(0) / total
    excess = days.arrivals - mean
    precision = np.zeros((len(elasticity),) * 2)
    precision[np.ix_(days.varied, days.varied)] = dispersion * _precision(int(days.varied.sum()))
    count = len(effects)
    matrix = np.zeros((count + len(elasticity),) * 2)
    cells = (0, 1, 2)
    matrix[:count, :count] = np.tensordot(mean[..., None] * known, known, (cells, cells))
    matrix[:count, :count] += np.eye(count) * dispersion / KNOWN_SPREAD**2
    matrix[count:, :count] = np.einsum("tjg,tjgk->gk", mean * slope, known)
    matrix[:count, count:] = matrix[count:, :count].T
    matrix[count:, count:] = np.diag((mean * slope**2).sum((0, 1))) + precision
    right = np.concatenate(
        [
            np.tensordot(excess, known, (cells, cells)) - effects * dispersion / KNOWN_SPREAD**2,
            (excess * slope).sum((0, 1)) - precision @ (elasticity - COMMON),
        ]
    )
    free = np.concatenate([np.ones(count, bool), days.varied])
    moved = np.zeros(len(free))
    moved[free] = np.linalg.solve(matrix[np.ix_(free, free)], right[free])
    return moved[:count], moved[count:]


def _precision(cohorts: int) -> Float[np.ndarray, "cohort cohort"]:
    """Of elasticities before any count: each its own, around a value that they share."""
    spread = OWN_SPREAD**2 * np.eye(cohorts) + COMMON_SPREAD**2
    return np.asarray(np.linalg.inv(spread))


def _objective(
    days: Days,
    saturation: np.ndarray,
    effects: np.ndarray,
    elasticity: np.ndarray,
    dispersion: float,
) -> float:
    own = elasticity[days.varied] - COMMON
    held = effects @ effects / KNOWN_SPREAD**2 + own @ _precision(len(own)) @ own
    mean = _expected(days, saturation, effects, elasticity)
    return _quasi_likelihood(days, mean) / dispersion - float(held) / 2


def _quasi_likelihood(days: Days, mean: np.ndarray) -> float:
    seen = days.arrivals > 0
    return float((days.arrivals[seen] * np.log(np.maximum(mean[seen], 1e-300))).sum() - mean.sum())


def _dispersion(days: Days, mean: np.ndarray, effects: int) -> float:
    told = mean > 0
    freedom = told.sum() - told.any(0).sum() - effects - days.varied.sum()
    pearson = float(((days.arrivals - mean)[told] ** 2 / mean[told]).sum())
    return max(1.0, pearson / max(1.0, float(freedom)))
