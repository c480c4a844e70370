"""Demand by instruments: quality from shares, and parameters to which instruments are unrelated.

Where prices follow what sellers see and the table does not, a likelihood takes dear products that
sell well for buyers who hardly mind prices. Here every share is explained exactly by a quality of
its own, and parameters are those at which this quality has nothing to do with the instruments
(Berry, Levinsohn and Pakes 1995).
"""

import warnings

import numpy as np

from dgd.choice.inversion.assembling import assembled
from dgd.choice.inversion.minimum import GRADIENT, Minimum, QualityProblem
from dgd.choice.inversion.moments import Hansen
from dgd.choice.inversion.quality_estimate import QualityEstimate
from dgd.choice.inversion.random_tastes import RandomTastes, alike, different
from dgd.choice.inversion.two_stage import LinearEstimate, instrumental_variables
from dgd.choice.markets import Markets
from dgd.errors import InputError, few
from dgd.runtime import computing

MOST_STEPS = 2
VANISHED = 1e-3
"""On the scale of a typical price, a sensitivity below this is none."""


def estimate_quality(
    markets: Markets,
    *,
    heterogeneous: bool,
    dim: int,
    nodes: int,
    steps: int = 2,
    starts: int = 1,
    seed: int = 0,
) -> QualityEstimate:
    """Demand of `markets` by their instruments, with the quality that no column holds.

    Args:
        markets: with instruments and an outside option, everything available sold.
        heterogeneous: whether tastes and price sensitivity differ between people, as standard
            Gaussian propensities move them; otherwise the logit, in closed form.
        dim: dimensions of the propensity.
        nodes: quadrature nodes per dimension.
        steps: 1 weighs moments by the instruments alone, 2 then by how they vary over markets.
        starts: how many starts the differences are searched from; the best is kept.
        seed: draws the starts after the first.
    """
    for name, value in (("steps", steps), ("starts", starts)):
        if value < 1:
            raise InputError(f"{name} is {value}; take at least 1.")
    if steps > MOST_STEPS:
        raise InputError(f"steps is {steps}; take 1, or 2 for the efficient weight.")
    with computing():
        tastes = different(markets, dim, nodes) if heterogeneous else alike(markets, dim)
        return estimated(markets, tastes, steps=steps, starts=starts, seed=seed)


def estimated(
    markets: Markets, tastes: RandomTastes, *, steps: int, starts: int, seed: int
) -> QualityEstimate:
    """The estimate where `tastes` says what may differ between whom; inside `computing`."""
    problem = QualityProblem.of(markets, tastes)
    linear = problem.linear
    if steps > 1:
        _refuse_second_step(problem)
    root = linear.first_weight
    found = _best(problem, starts, seed)
    inversions = found.iterations
    if steps > 1:
        root = linear.next_weight(_residual(problem, found.theta, root)[0])
        found = problem.minimum(found.theta, root)
        inversions += found.iterations
    xi, beta = _residual(problem, found.theta, root)
    valued = problem.valued(found.theta)
    slopes = np.c_[valued.slopes, -linear.regressors]
    demand, quality = assembled(problem, parameters := np.r_[found.theta, beta])
    degrees = linear.basis.shape[1] - len(parameters)
    estimate = QualityEstimate(
        demand=demand,
        quality=quality,
        objective=found.objective,
        gradient=found.gradient,
        iterations=inversions,
        converged=bool(found.gradient <= GRADIENT and valued.converged.all()),
        parameters=parameters,
        parameter_names=_names(problem),
        covariance=linear.covariance(slopes, xi, root),
        first_stage=problem.design.first_stage,
        hansen=Hansen.of(found.objective, degrees) if steps > 1 and degrees > 0 else None,
        root=root,
        problem=problem,
    )
    _warn_of_markets(markets, valued.converged)
    _warn_of_slope(estimate)
    return estimate


def _best(problem: QualityProblem, starts: int, seed: int) -> Minimum:
    """The lowest of several searches with the first weight, from the logit's price sensitivity."""
    tastes, linear = problem.tastes, problem.linear
    if not tastes.number:
        return problem.minimum(np.zeros(0), linear.first_weight)
    logit = float(_logit(problem).coefficients[-1])
    draws = [None, *(np.random.default_rng([seed, number]) for number in range(1, starts))]
    searched = [problem.minimum(tastes.start(logit, rng), linear.first_weight) for rng in draws]
    return min(searched, key=lambda found: found.objective)


def _logit(problem: QualityProblem) -> LinearEstimate:
    """Were everyone alike: what the instruments say; price, turned round, comes last."""
    markets, observed = problem.design.markets, problem.observed
    ratio = np.log(np.where(markets.available, np.asarray(observed.products), 1.0))
    value = (ratio - np.log(np.asarray(observed.outside))[:, None])[markets.available]
    within = problem.design.absorbed.rest(value[:, None])[:, 0]
    return instrumental_variables(within, problem.design.instrumented(True, 0))


def _residual(
    problem: QualityProblem, theta: np.ndarray, root: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """xi with absorbed effects taken out, and the linear parameters."""
    value = problem.delta(theta)
    beta = problem.linear.coefficients(value, root)
    within = problem.design.absorbed.rest(value[:, None])[:, 0]
    return within - problem.linear.regressors @ beta, beta


def _names(problem: QualityProblem) -> tuple[str, ...]:
    markets, kept = problem.design.markets, problem.design.kept
    price = markets.columns.price
    linear = [name for name, own in zip(markets.attribute_names, kept, strict=True) if own]
    sensitivity = [f"sensitivity to {price}"] if problem.tastes.price_is_linear else []
    return (*problem.tastes.names(markets.attribute_names, price), *linear, *sensitivity)


def _refuse_second_step(problem: QualityProblem) -> None:
    moments, markets = problem.linear.basis.shape[1], len(problem.design.markets.markets)
    if markets <= moments:
        raise InputError(
            f"a second step weighs {moments} moments by how they vary over {markets} markets, "
            "which are too few; take steps=1, or fewer instruments."
        )


def _warn_of_markets(markets: Markets, converged: np.ndarray) -> None:
    if not converged.all():
        labels = [markets.markets[index] for index in np.flatnonzero(~converged)]
        warnings.warn(
            f"the shares of markets {few(labels)} were not met to the last digits at the "
            "estimate; look at their smallest shares.",
            UserWarning,
            stacklevel=4,
        )


def _warn_of_slope(estimate: QualityEstimate) -> None:
    """Warn where price has the wrong sign, which softplus cannot hold.

    Where sensitivities differ they have then all but vanished, and the logit says by how much the
    sign is wrong.
    """
    problem, demand = estimate.problem, estimate.demand
    found, error = estimate.parameters, estimate.standard_errors
    if not problem.tastes.price_is_linear:
        support = demand.population.support()
        sensitivity = np.asarray(demand.utility.price_sensitivity(support.points))
        if np.average(sensitivity, weights=np.exp(support.log_weights)) > VANISHED:
            return
        logit = _logit(problem)
        found, error = logit.coefficients, np.sqrt(np.diag(logit.covariance))
    if found[-1] > 0:
        return
    unit = float(demand.scales.price)
    warnings.warn(
        f"demand slopes upward at these instruments: a unit of "
        f"{problem.design.markets.columns.price} adds {-found[-1] / unit:.3g} to utility (standard "
        f"error {error[-1] / unit:.2g}), and next to no price sensitivity was put in its place.",
        UserWarning,
        stacklevel=4,
    )
