"""What estimation minimises, with its first and second derivatives by all free parameters."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.estimation.evidence import ChoiceEvidence
from dgd.choice.estimation.prior import surprise

AT_ONCE = 8
"""Directions in which derivatives are taken side by side: more take more memory."""


class LikelihoodScale(NamedTuple):
    """What the log-likelihood is divided by, and how far from the start the prior reaches."""

    dispersion: Float[Array, ""]
    amount: Float[Array, ""]
    reach: Float[Array, ""]


class Target(NamedTuple):
    """A log-likelihood to maximise: data, what each cluster weighs in it, and its scale."""

    fixed: Any
    """The arrays of the demand that are not estimated."""
    evidence: ChoiceEvidence
    weight: Float[Array, " cluster"]
    scaling: LikelihoodScale

    def value(self, free: Any) -> Float[Array, ""]:
        r"""Negative log-likelihood and prior, per unit of information.

        .. math:: F = \frac{1}{I} \Big(-\frac{1}{\phi} \sum_c w_c \ell_c + R\Big)
        """
        demand: ChoiceDemand = eqx.combine(free, self.fixed)
        fitted = self.weight @ self.evidence.log_likelihoods(demand)
        doubt = surprise(demand, self.scaling.reach)
        return (doubt - fitted / self.scaling.dispersion) / self.scaling.amount


Unravel = Callable[[Float[Array, " parameter"]], Any]
"""From a vector to the arrays that are estimated."""


@eqx.filter_jit
def value_and_slope(
    vector: Float[Array, " parameter"], unravel: Unravel, target: Target
) -> tuple[Float[Array, ""], Float[Array, " parameter"]]:
    return jax.value_and_grad(lambda v: target.value(unravel(v)))(vector)


@eqx.filter_jit
def curvature(
    vector: Float[Array, " parameter"], unravel: Unravel, target: Target
) -> Float[Array, "parameter parameter"]:
    """The second derivatives of the target, some columns at a time."""

    def slope(vector: Array) -> Array:
        return jax.grad(lambda v: target.value(unravel(v)))(vector)

    def column(direction: Array) -> Array:
        return jax.jvp(slope, (vector,), (direction,))[1]

    found = jax.lax.map(column, jnp.eye(len(vector)), batch_size=AT_ONCE)
    return (found + found.T) / 2


@eqx.filter_jit
def scores(free: Any, fixed: Any, evidence: ChoiceEvidence) -> Float[Array, "cluster parameter"]:
    """How each cluster's log-likelihood moves with every free parameter."""
    vector, unravel = ravel_pytree(free)

    def likelihoods(vector: Array) -> Array:
        return evidence.log_likelihoods(eqx.combine(unravel(vector), fixed))

    def column(direction: Array) -> Array:
        return jax.jvp(likelihoods, (vector,), (direction,))[1]

    return jax.lax.map(column, jnp.eye(len(vector)), batch_size=AT_ONCE).T


@eqx.filter_jit
def log_likelihoods(demand: ChoiceDemand, evidence: ChoiceEvidence) -> Float[Array, " cluster"]:
    return evidence.log_likelihoods(demand)


@eqx.filter_jit
def log_share_slopes(
    free: Any, fixed: Any, evidence: ChoiceEvidence
) -> Float[Array, "market option parameter"]:
    """How the logarithm of every share, buying nothing the last, moves with every parameter."""
    vector, unravel = ravel_pytree(free)

    def logs(vector: Array) -> Array:
        shares = eqx.combine(unravel(vector), fixed).shares(evidence.offers)
        whole = jnp.concatenate([shares.products, shares.outside[:, None]], 1)
        there = whole > 0
        return jnp.where(there, jnp.log(jnp.where(there, whole, 1.0)), 0.0)

    def column(direction: Array) -> Array:
        return jax.jvp(logs, (vector,), (direction,))[1]

    found = jax.lax.map(column, jnp.eye(len(vector)), batch_size=AT_ONCE)
    return jnp.moveaxis(found, 0, -1)


@eqx.filter_jit
def expected_counts(
    free: Any, fixed: Any, evidence: ChoiceEvidence
) -> Float[Array, "market option"]:
    """How many are expected to choose each product, and nothing."""
    shares = eqx.combine(free, fixed).shares(evidence.offers)
    size = evidence.sales.products.sum(1) + evidence.sales.outside
    whole = jnp.concatenate([shares.products, shares.outside[:, None]], 1)
    return size[:, None] * whole
