"""Contact and response at a propensity, integrated into a Prediction.

Arrival intensity and behaviour probabilities are evaluated at the nodes of
the population; the readout says how much each node counts in what is recorded.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dgd.model.days import Inputs, Prediction
from dgd.model.feedback import Reference, State
from dgd.model.patterns import integrate_patterns
from dgd.model.population import Support
from dgd.model.readout import AbstractReadout

LOG_INTENSITY_RANGE = (-16.0, 10.0)


class Arrival(eqx.Module):
    r"""Log-intensity of contact per person.

    .. math:: \log \ell(u) = \mathrm{clip}(a + \beta_I^T x + z + c + \gamma^T u, -16, 10)
    """

    intercept: Float[Array, "unit cohort"]
    """Learned part of a."""
    feature_effect: Float[Array, " feature"]
    """beta_I."""
    loading: Float[Array, " dim"]
    """gamma."""

    def log_intensity_at_rest(
        self,
        reference: Reference,
        support: Support,
        features: Float[Array, "date unit cohort feature"],
        shift: Float[Array, "date cohort dim"],
    ) -> Float[Array, "date unit cohort node"]:
        """The unclipped exponent without the arrival states z and c."""
        of_cell = (reference.log_baseline + self.intercept)[None] + features @ self.feature_effect
        of_cell = of_cell + (shift @ self.loading)[:, None]
        of_node = support.points @ self.loading
        return of_cell[..., None] + of_node[None, None]


class Behavior(eqx.Module):
    r"""Autoregressive logistic response.

    .. math:: \eta_h = b_h(x, s) + \lambda_h^T u + \sum_{h'<h} \Psi_{hh'} y_{h'}

    where lambda_1 is the first unit vector, which fixes scale and direction.
    """

    unit_intercept: Float[Array, "unit behavior"]
    cohort_intercept: Float[Array, "cohort behavior"]
    feature_effect: Float[Array, "feature behavior"]
    memory_effect: Float[Array, "behavior behavior"]
    """Row: the behaviour remembered; column: the behaviour it moves."""
    fatigue_effect: Float[Array, " behavior"]
    environment_effect: Float[Array, " behavior"]
    """Effect of the common arrival environment z."""
    free_loading: Float[Array, "behavior_after_first dim"]
    """lambda_2 .. lambda_H."""
    dependence_entries: Float[Array, " pair"]
    """Psi below its diagonal, row by row."""

    @property
    def loading(self) -> Float[Array, "behavior dim"]:
        """lambda."""
        anchor = jnp.eye(1, self.free_loading.shape[1])
        return jnp.concatenate([anchor, self.free_loading])

    @property
    def dependence(self) -> Float[Array, "behavior behavior"]:
        """Psi, strictly lower triangular."""
        behaviors = self.unit_intercept.shape[1]
        row, column = np.tril_indices(behaviors, -1)
        return jnp.zeros((behaviors, behaviors)).at[row, column].set(self.dependence_entries)

    def cell_logits(
        self, features: Float[Array, "date unit cohort feature"], state: State
    ) -> Float[Array, "date unit cohort behavior"]:
        """b(x, s) + lambda^T delta: the part of the logit that all nodes share."""
        of_state = (
            state.memory @ self.memory_effect
            + state.fatigue[..., None] * self.fatigue_effect[None, None]
            + (state.common[:, None] * self.environment_effect[None])[:, None]
            + state.shift @ self.loading.T
        )
        intercept = self.unit_intercept[:, None] + self.cohort_intercept[None]
        return intercept[None] + features @ self.feature_effect + of_state[:, None]


def node_log_intensity(
    at_rest: Float[Array, "date unit cohort node"], state: State
) -> Float[Array, "date unit cohort node"]:
    """log ell(u) before effort: the exponent with z and c added, clipped."""
    arrival_state = state.common[:, None] + state.unit
    return jnp.clip(at_rest + arrival_state[:, :, None, None], *LOG_INTENSITY_RANGE)


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
    behavior: Behavior,
    readout: AbstractReadout,
    there: Support,
    at_rest: Float[Array, "date unit cohort node"],
    state: State,
    inputs: Inputs,
    features: Float[Array, "date unit cohort feature"],
) -> AtNodes:
    r"""Arrivals, and who of those there answers with which logits.

    .. math:: N = n e \sum_i w_i \ell(u_i)

    Effort multiplies arrivals only, so at zero effort the counts are zero and
    the probabilities are their limit as effort falls to zero.
    """
    log_mass = there.log_weights[None, None] + node_log_intensity(at_rest, state)
    peak = jax.lax.stop_gradient(log_mass.max(-1, keepdims=True))
    mass = jnp.exp(log_mass - peak)
    total = mass.sum(-1)
    arrivals = inputs.size * inputs.effort * jnp.exp(peak[..., 0]) * total
    seen = readout.seen(there, mass / total[..., None])
    return AtNodes(
        arrivals=arrivals,
        shares=seen.shares,
        of_cell=behavior.cell_logits(features, state),
        of_node=seen.points @ behavior.loading.T,
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
