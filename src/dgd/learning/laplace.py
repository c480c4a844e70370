r"""What the parameters do not know: a normal law around the trained ones.

Counts and patterns of the training days say how sharply they determine the parameters, by the
information of their likelihood given all days before,

.. math:: I(\theta) = \sum_{jgt} \frac{\nabla\mu\, \nabla\mu^T}{\mu + \mu^2 / r}
    + \sum_{jgt} N \sum_y \frac{\nabla q(y)\, \nabla q(y)^T}{q(y)} + R + \mathrm{diag}(s), \qquad
    \theta \sim N(\hat\theta, I(\hat\theta)^{-1})

the expected outer products of the scores, which are of full rank where the recorded ones of a few
weeks are not. R is the curvature of the regulariser, the prior that parameters were trained with;
a prior of strength s bounds what neither determines. Labels of a mixture
may swap and directions of it trade, so a draw's parameters mean nothing by themselves: only what
they predict may be reported.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float
from scipy.linalg import solve_triangular

from dgd.learning.objective import Objective
from dgd.model.bits import behavior_bits
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Outcomes, Prediction
from dgd.model.effort import Elastic
from dgd.model.innovations import Corrections
from dgd.model.negative_binomial import pooled_inverse
from dgd.model.observation import AtNodes
from dgd.model.sweep import observed_states

PRIOR = 16.0
"""s: nothing is left open by more than a quarter. Where counts leave a direction wide open the
likelihood is no normal law: with a prior of 1 the draws of an example lose four times the
log-likelihood that they should, with this one what they should."""
ELASTICITY_PRIOR = 0.5
"""The same for elasticities before their sigmoid: all between 0 and 1 are about as likely."""
LEAST_PROBABILITY = 1e-12
"""Patterns that are less likely say nothing by not being shown."""
COLUMNS_AT_ONCE = 8
"""Of the information; more of them are faster and take more memory."""
SMALLEST_WEIGHT = 1e-6
"""Of arrivals in the objective; with none, nothing is said about them."""
LARGEST_INVERSE, SMALLEST_INVERSE = 1e3, 1e-9
"""Of the dispersion."""


def parameter_draws(
    crowd: Crowd,
    inputs: Inputs,
    outcomes: Outcomes,
    dispersion: float | Float[np.ndarray, " cohort"],
    draws: int,
    rng: np.random.Generator,
    objective: Objective | None = None,
) -> tuple[Crowd, ...]:
    """Crowds whose parameters are as likely as the days leave them.

    Args:
        crowd: The trained one, in the middle of the draws.
        inputs, outcomes: The training days.
        dispersion: r of the arrivals, one for all or one for each cohort.
        draws: How many.
        rng: Says which.
        objective: What training minimised; without it nothing was held.
    """
    _, known = _curvature(crowd, inputs, outcomes, dispersion, objective)
    chances = rng.standard_normal((len(known), draws))
    factor = np.linalg.cholesky(known)
    scattered = solve_triangular(factor, chances, lower=True, trans="T")
    return tuple(_moved(crowd, step) for step in scattered.T)


def balanced(
    crowd: Crowd,
    inputs: Inputs,
    outcomes: Outcomes,
    dispersion: float | Float[np.ndarray, " cohort"],
    objective: Objective,
) -> Crowd:
    """The crowd one step of scoring on, about where days and regulariser balance.

    Training stops where validation days are forecast best, which leaves effects short of what
    the training days say.
    """
    slope, known = _curvature(crowd, inputs, outcomes, dispersion, objective)
    return _moved(crowd, np.linalg.solve(known, slope))


def _moved(crowd: Crowd, step: Float[np.ndarray, " parameter"]) -> Crowd:
    free, fixed = eqx.partition(crowd, crowd.trainable())
    center, unravel = ravel_pytree(free)
    return eqx.combine(unravel(center + jnp.asarray(step)), fixed)


def _curvature(
    crowd: Crowd,
    inputs: Inputs,
    outcomes: Outcomes,
    dispersion: float | Float[np.ndarray, " cohort"],
    objective: Objective | None,
) -> tuple[Float[np.ndarray, " parameter"], Float[np.ndarray, "parameter parameter"]]:
    """Slope and information of everything that speaks of the parameters."""
    spread = jnp.asarray(np.broadcast_to(dispersion, crowd.arrival.intercept.shape[1:]))
    slope, known = (np.asarray(part) for part in information(crowd, inputs, outcomes, spread))
    if objective is not None:
        pull, held = held_information(crowd, outcomes, objective)
        slope, known = slope + np.asarray(pull), known + np.asarray(held)
    return slope, known + np.diag(_prior(crowd))


def _prior(crowd: Crowd) -> Float[np.ndarray, " parameter"]:
    """s; it pulls to where the parameters are."""
    free = eqx.filter(crowd, crowd.trainable())
    strength = jax.tree.map(lambda x: np.full(x.shape, PRIOR), free)
    if isinstance(free.effort, Elastic):
        own = np.full(free.effort.raw_elasticity.shape, ELASTICITY_PRIOR)
        strength = eqx.tree_at(lambda crowd: crowd.effort.raw_elasticity, strength, own)
    return np.concatenate([part.ravel() for part in jax.tree.leaves(strength)])


@eqx.filter_jit
def information(
    crowd: Crowd, inputs: Inputs, outcomes: Outcomes, dispersion: Float[Array, " cohort"]
) -> tuple[Float[Array, " parameter"], Float[Array, "parameter parameter"]]:
    """The score of the days, and what they say about everything that is trained.

    A column is the transposed derivative of what is expected, applied to a weighed derivative of
    it: no matrix of days by parameters is ever kept.
    """
    free, fixed = eqx.partition(crowd, crowd.trainable())
    center, unravel = ravel_pytree(free)
    corrected = _corrections(crowd, inputs, outcomes)

    def expected(parameters: Array) -> tuple[Array, Array]:
        mean, patterns = expectations(eqx.combine(unravel(parameters), fixed), inputs, outcomes)
        if corrected is None:
            return mean, patterns
        after = corrected.applied(Prediction(mean, patterns))
        return after.arrivals, after.patterns

    (mean, patterns), forward = jax.linearize(expected, center)
    backward: Callable[..., tuple[Array]] = jax.linear_transpose(forward, center)
    variance = mean + mean**2 / dispersion[None, None]
    of_count = jnp.where(mean > 0, 1.0 / jnp.where(mean > 0, variance, 1.0), 0.0)
    likely = patterns > LEAST_PROBABILITY
    share = jnp.where(likely, 1.0 / jnp.where(likely, patterns, 1.0), 0.0)
    of_pattern = outcomes.arrivals[None] * share

    def column(direction: Array) -> Array:
        moved_mean, moved_patterns = forward(direction)
        return backward((of_count * moved_mean, of_pattern * moved_patterns))[0]

    excess = of_count * (outcomes.arrivals - mean)
    (score,) = backward((excess, outcomes.patterns * share))
    found = jax.lax.map(column, jnp.eye(len(center)), batch_size=COLUMNS_AT_ONCE)
    return score, (found + found.T) / 2


@eqx.filter_jit
def held_information(
    crowd: Crowd, outcomes: Outcomes, objective: Objective
) -> tuple[Float[Array, " parameter"], Float[Array, "parameter parameter"]]:
    """Where the regulariser pulls, and how hard, in units of log-likelihood.

    The objective counts patterns per arrival and arrivals per cell and day, times a weight; each
    group of coefficients is held in the units of the counts that it explains.
    """
    free, fixed = eqx.partition(crowd, crowd.trainable())
    center, unravel = ravel_pytree(free)
    arrivals = outcomes.arrivals.sum()
    cells = outcomes.arrivals.size / max(objective.count_weight, SMALLEST_WEIGHT)
    units = {"behavior": arrivals, "calendar": jnp.minimum(arrivals, cells), "other": arrivals}

    def held(parameters: Array) -> Array:
        parts = eqx.combine(unravel(parameters), fixed).held()
        return jnp.concatenate([part.ravel() for _, part in parts])

    strengths = objective.strengths()
    parts = [(group, part.size) for group, part in crowd.held()]
    weights = jnp.concatenate(
        [jnp.full(size, 1.0) * strengths[group] * units[group] for group, size in parts]
    )
    weights = weights * 2.0 * objective.penalty_weight / sum(size for _, size in parts)
    slopes = jax.jacfwd(held)(center)
    weighed = slopes.T * weights[None]
    return -weighed @ held(center), weighed @ slopes


def expectations(
    crowd: Crowd, inputs: Inputs, outcomes: Outcomes
) -> tuple[Float[Array, "date unit cohort"], Float[Array, "pattern date unit cohort"]]:
    """Arrivals and joint probabilities of every day given the days before, in a form that can be
    differentiated forward."""
    states, _, at_rest = observed_states(crowd, inputs, outcomes, crowd.at_rest())
    exponent = at_rest + states.environment.exponent[:, :, None, None]
    nodes = crowd.respond(states, inputs, exponent)
    return nodes.arrivals, _patterns(nodes, crowd.response.dependence)


def _corrections(crowd: Crowd, inputs: Inputs, outcomes: Outcomes) -> Corrections | None:
    """What innovations add to every day, taken as known: parameters explain the rest."""
    if crowd.innovations is None:
        return None
    mean, patterns = expectations(crowd, inputs, outcomes)
    path = crowd.innovations.path(Prediction(mean, patterns), inputs.of_season, outcomes)
    before = jax.tree.map(lambda x: x[:-1], path)
    return crowd.innovations.corrections(before, inputs.of_season)


def measured_dispersion(
    crowd: Crowd, inputs: Inputs, outcomes: Outcomes
) -> Float[np.ndarray, " cohort"]:
    """r of every cohort's arrivals around what the crowd expected of the days, by moments;
    cohorts are drawn to all of them."""
    mean = np.asarray(_arrivals(crowd, inputs, outcomes))
    excess = ((np.asarray(outcomes.arrivals) - mean) ** 2 - mean).sum((0, 1))
    inverse = pooled_inverse(excess, (mean**2).sum((0, 1)), len(mean))
    return np.asarray(1 / np.clip(inverse, SMALLEST_INVERSE, LARGEST_INVERSE))


@eqx.filter_jit
def _arrivals(crowd: Crowd, inputs: Inputs, outcomes: Outcomes) -> Float[Array, "date unit cohort"]:
    mean, _ = expectations(crowd, inputs, outcomes)
    corrected = _corrections(crowd, inputs, outcomes)
    return mean if corrected is None else mean * jnp.exp(corrected.arrivals)


def _patterns(
    nodes: AtNodes, dependence: Float[Array, "behavior behavior"]
) -> Float[Array, "pattern date unit cohort"]:
    """q(y), written out: the tree's own rule only knows the way back."""
    bits = behavior_bits(len(dependence))
    mass = nodes.shares[None]
    for behavior, shown in enumerate(bits.T):
        of_prefix = (bits @ dependence[behavior])[:, None, None, None, None]
        of_cell = nodes.of_cell[..., behavior][None, ..., None]
        of_node = nodes.of_node[..., behavior][None, None, None]
        sign = (2.0 * shown - 1.0)[:, None, None, None, None]
        mass = mass * jax.nn.sigmoid(sign * (of_prefix + of_cell + of_node))
    return mass.sum(-1)
