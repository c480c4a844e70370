"""Contact and response at every node, integrated into a Prediction.

Arrival intensity and behaviour probabilities are evaluated at the nodes of
the population; the readout says how much each node counts in what is recorded.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dgd.model.bits import behavior_bits
from dgd.model.days import Prediction
from dgd.model.patterns import integrate_patterns
from dgd.model.population.population import Support
from dgd.model.readout import AbstractReadout


class AtNodes(NamedTuple):
    """Contact and response of every cell at every node, before they are integrated."""

    arrivals: Float[Array, "date unit cohort"]
    shares: Float[Array, "date unit cohort node"]
    """How much of a cell's recorded behaviour each node accounts for."""
    of_cell: Float[Array, "date unit cohort behavior"]
    """The part of the logit that all nodes share."""
    of_node: Float[Array, "cohort node behavior"]
    """lambda^T u, the part that all dates and units share."""


def at_nodes(
    readout: AbstractReadout,
    there: Support,
    log_intensity: Float[Array, "date unit cohort node"],
    people: Float[Array, "date unit cohort"],
    of_cell: Float[Array, "date unit cohort behavior"],
    loading: Float[Array, "behavior dim"],
) -> AtNodes:
    r"""Arrivals, and who of those there answers with which logits.

    .. math:: N = n e \sum_i w_i \ell(u_i)

    `people` is n e. Effort multiplies arrivals only, so at zero effort the counts are zero
    and the probabilities are their limit as effort falls to zero.
    """
    log_mass = there.log_weights[None, None] + log_intensity
    peak = jax.lax.stop_gradient(log_mass.max(-1, keepdims=True))
    mass = jnp.exp(log_mass - peak)
    total = mass.sum(-1)
    arrivals = people * jnp.exp(peak[..., 0]) * total
    seen = readout.seen(there, mass / total[..., None])
    return AtNodes(
        arrivals=arrivals,
        shares=seen.shares,
        of_cell=of_cell,
        of_node=seen.points @ loading.T,
    )


def integrate(nodes: AtNodes, dependence: Float[Array, "behavior behavior"]) -> Prediction:
    r"""Arrivals and joint probabilities of every cell.

    .. math:: q(y) = \sum_i s_i p(y|u_i)

    where s_i is the node's share of the recorded behaviour.
    """
    dates, units, cohorts, behaviors = nodes.of_cell.shape
    of_node = nodes.of_node.transpose(2, 1, 0)[:, :, None, None]
    logits = nodes.of_cell.transpose(3, 0, 1, 2)[:, None] + of_node
    cells = dates * units * cohorts
    patterns = integrate_patterns(
        logits.reshape(behaviors, -1, cells),
        nodes.shares.transpose(3, 0, 1, 2).reshape(-1, cells),
        dependence,
    )
    return Prediction(nodes.arrivals, patterns.reshape(-1, dates, units, cohorts))


def integrate_groups(
    nodes: AtNodes,
    dependence: Float[Array, "behavior behavior"],
    cell: Int[Array, " group"],
    of_context: Float[Array, "group behavior"],
) -> Float[Array, "pattern group"]:
    """Joint probabilities of groups of events: each its cell's, with logits moved by context."""
    behaviors, cohorts = nodes.of_cell.shape[3], nodes.of_cell.shape[2]
    of_group = nodes.of_cell.reshape(-1, behaviors)[cell] + of_context
    of_node = nodes.of_node[cell % cohorts].transpose(2, 1, 0)
    shares = nodes.shares.reshape(-1, nodes.shares.shape[-1])[cell]
    return integrate_patterns(of_group.T[:, None] + of_node, shares.T, dependence)


def integrate_shown(
    nodes: AtNodes,
    dependence: Float[Array, "behavior behavior"],
    cell: Int[Array, " entry"],
    pattern: Int[Array, " entry"],
) -> Float[Array, " entry"]:
    r"""q(y) of one pattern for each entry, without those that nobody asks for.

    .. math:: q(y) = \sum_i s_i \prod_h \sigma\bigl((2 y_h - 1) \eta_h(u_i, y)\bigr)
    """
    behaviors, cohorts = nodes.of_cell.shape[3], nodes.of_cell.shape[2]
    shown = jnp.asarray(behavior_bits(behaviors), jnp.float64)[pattern].T
    of_entry = nodes.of_cell.reshape(-1, behaviors)[cell].T + dependence @ shown
    # a product with zeros and ones, for gradients of it are sums without any scattering
    of_cohort = jax.nn.one_hot(cell % cohorts, cohorts, axis=0)
    of_node = nodes.of_node.transpose(2, 1, 0) @ of_cohort
    probable = nodes.shares.reshape(-1, nodes.shares.shape[-1])[cell].T
    for h in range(behaviors):
        sign = 2.0 * shown[h] - 1.0
        probable = probable * jax.nn.sigmoid(sign[None] * (of_entry[h][None] + of_node[h]))
    return probable.sum(0)
