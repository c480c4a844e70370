"""From free parameters to a demand: levels and quality follow from them and the shares."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.inversion.minimum import QualityProblem
from dgd.choice.inversion.random_tastes import LEAST_SENSITIVITY, raw_sensitivity


def assembled(
    problem: QualityProblem, parameters: Float[np.ndarray, " parameter"]
) -> tuple[ChoiceDemand, Float[np.ndarray, "market slot"]]:
    r"""The demand of these parameters and its quality; inside `computing`.

    .. math:: \xi = \delta(\theta) - X \beta - \sum_l \phi_l

    with phi the means within absorbed labels; the first label of a column has no effect, and the
    constant takes what it would have had.
    """
    tastes, design = problem.tastes, problem.design
    theta, linear = np.split(parameters, [tastes.number])
    beta = np.zeros(tastes.attributes)
    beta[design.kept] = linear[: design.exogenous.shape[1]]
    rest = problem.delta(theta) - design.attributes @ beta
    demand = tastes.demand(jnp.asarray(theta))
    intercept = demand.utility.price_intercept
    if tastes.price_is_linear:
        # Where demand slopes upward quality holds what softplus cannot.
        sensitivity = max(float(linear[-1]), LEAST_SENSITIVITY)
        intercept = jnp.asarray(raw_sensitivity(sensitivity))
        rest = rest + linear[-1] * design.price
    xi, effects = design.absorbed.parted(rest[:, None])
    if tastes.price_is_linear:
        xi = xi + ((sensitivity - linear[-1]) * design.price)[:, None]
    levels = []
    for effect, seen in zip(effects, design.absorbed.seen(), strict=True):
        beta[0] += effect[0, 0]
        levels.append(np.where(seen, effect[:, 0] - effect[0, 0], 0.0)[1:])
    utility = eqx.tree_at(
        lambda u: (u.attribute_effect, u.price_intercept, u.level_effect, u.quality_effect),
        demand.utility,
        (
            jnp.asarray(beta),
            intercept,
            jnp.asarray(np.concatenate([np.zeros(0), *levels])),
            jnp.ones(()),
        ),
    )
    return eqx.tree_at(lambda m: m.utility, demand, utility), design.grid(xi[:, 0])
