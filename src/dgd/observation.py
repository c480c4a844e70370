"""Contact and response at a propensity, integrated into a Prediction.

Arrival intensity and behaviour probabilities are evaluated at the same nodes
and multiplied before integration, so people who are reached often weigh more
in what is recorded.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.days import Inputs, Prediction
from dgd.feedback import Reference, State
from dgd.patterns import integrate_patterns
from dgd.population import Support

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


def integrate(
    behavior: Behavior,
    support: Support,
    at_rest: Float[Array, "date unit cohort node"],
    state: State,
    inputs: Inputs,
    features: Float[Array, "date unit cohort feature"],
) -> Prediction:
    r"""Arrivals and joint probabilities from the same weighted nodes.

    .. math:: N = n e \sum_i w_i \ell(u_i), \qquad
        q(y) = \frac{\sum_i w_i \ell(u_i) p(y|u_i)}{\sum_i w_i \ell(u_i)}

    Effort multiplies arrivals only, so at zero effort the counts are zero and
    the probabilities are their limit as effort falls to zero.
    """
    log_mass = support.log_weights[None, None] + node_log_intensity(at_rest, state)
    peak = jax.lax.stop_gradient(log_mass.max(-1, keepdims=True))
    mass = jnp.exp(log_mass - peak)
    total = mass.sum(-1)
    arrivals = inputs.size * inputs.effort * jnp.exp(peak[..., 0]) * total
    seen = mass / total[..., None]

    of_cell = behavior.cell_logits(features, state)
    of_node = support.points @ behavior.loading.T
    dates, units, cohorts, behaviors = of_cell.shape
    logits = of_cell.transpose(3, 0, 1, 2)[:, None] + of_node.transpose(2, 1, 0)[:, :, None, None]
    cells = dates * units * cohorts
    patterns = integrate_patterns(
        logits.reshape(behaviors, -1, cells),
        seen.transpose(3, 0, 1, 2).reshape(-1, cells),
        behavior.dependence,
    )
    return Prediction(arrivals, patterns.reshape(-1, dates, units, cohorts))
