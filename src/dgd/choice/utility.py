"""Choice at a point of propensity space: utilities, probabilities, and their log-sum."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dgd.choice.offers import Offers


class Choice(NamedTuple):
    """Probabilities at every node."""

    products: Float[Array, "market slot cohort node"]
    outside: Float[Array, "market cohort node"]
    log_sum: Float[Array, "market cohort node"]
    """log(1 + sum of exp V): the expected utility of the best choice, up to a constant."""


class Utility(eqx.Module):
    r"""Utilities linear in attributes, with tastes and price sensitivity moved by propensity.

    .. math:: V_b(u) = x_b^T \beta_C + u^T W_C^T x_b - price_b \, softplus(a_C + v_C^T u)

    Buying nothing has utility zero, and softplus keeps every price sensitivity positive.
    """

    attribute_effect: Float[Array, " attribute"]
    """beta_C: tastes at u = 0."""
    attribute_loading: Float[Array, "attribute dim"]
    """W_C: how propensity moves tastes."""
    price_intercept: Float[Array, ""]
    """a_C."""
    price_loading: Float[Array, " dim"]
    """v_C: how propensity moves price sensitivity."""

    def tastes(
        self, points: Float[Array, "cohort node dim"]
    ) -> Float[Array, "cohort node attribute"]:
        """beta_C + W_C u at every node."""
        moved = points @ self.attribute_loading.T
        return moved + jnp.broadcast_to(self.attribute_effect, moved.shape)

    def price_sensitivity(
        self, points: Float[Array, "cohort node dim"]
    ) -> Float[Array, "cohort node"]:
        """softplus(a_C + v_C' u) at every node."""
        return jax.nn.softplus(points @ self.price_loading + self.price_intercept)

    def choice(self, offers: Offers, points: Float[Array, "cohort node dim"]) -> Choice:
        """Probabilities at every node; unavailable products take no part in the softmax."""
        coefficients = jnp.concatenate(
            [self.tastes(points), -self.price_sensitivity(points)[..., None]], -1
        )
        known = jnp.concatenate([offers.attributes, offers.price[..., None]], -1)
        utility = jnp.tensordot(known, coefficients, [[-1], [-1]])
        return available_softmax(utility, offers.available)


def available_softmax(
    utility: Float[Array, "market slot cohort node"], available: Bool[Array, "market slot"]
) -> Choice:
    r"""Softmax over available products and an outside option at zero.

    .. math:: p(b) = e^{V_b - m} / (e^{-m} + \sum_{b' \in A} e^{V_{b'} - m})

    with m the largest utility on offer, zero included, so that no exponential overflows.
    """
    open_to = jnp.broadcast_to(available[..., None, None], utility.shape)
    utility = jnp.where(open_to, utility, -jnp.inf)
    largest = jax.lax.stop_gradient(jnp.maximum(utility.max(1), 0.0))
    relative = jnp.exp(utility - largest[:, None])
    nothing = jnp.exp(-largest)
    total = nothing + relative.sum(1)
    return Choice(relative / total[:, None], nothing / total, largest + jnp.log(total))
