"""Choice at a point of propensity space: utilities, probabilities, and their log-sum."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dgd.choice.offers import Offers

EVERYWHERE_ALIKE = 3
"""Axes of points that are the same in all markets: cohort, node and dimension."""


class Choice(NamedTuple):
    """Probabilities at every node."""

    products: Float[Array, "market slot cohort node"]
    outside: Float[Array, "market cohort node"]
    log_sum: Float[Array, "market cohort node"]
    """log(1 + sum of exp V): the expected utility of the best choice, up to a constant."""
    sensitivity: Float[Array, "*market cohort node"]
    """What one scaled unit of price takes from utility, with a market axis where markets differ."""


class Utility(eqx.Module):
    r"""Utilities linear in attributes, with tastes and price sensitivity moved by propensity.

    .. math:: V_b(u) = x_b^T \beta_C + u^T W_C^T x_b - price_b \, softplus(a_C + v_C^T u)
        + \sum_l \phi_{l(b)} + \lambda q_b

    Buying nothing has utility zero, and softplus keeps every price sensitivity positive.
    Effects phi of absorbed labels and quality q are valued alike by everyone.
    """

    attribute_effect: Float[Array, " attribute"]
    """beta_C: tastes at u = 0."""
    attribute_loading: Float[Array, "attribute dim"]
    """W_C: how propensity moves tastes."""
    price_intercept: Float[Array, ""]
    """a_C."""
    price_loading: Float[Array, " dim"]
    """v_C: how propensity moves price sensitivity."""
    level_effect: Float[Array, " level"] = eqx.field(default_factory=lambda: jnp.zeros(0))
    """phi: what each label of an absorbed column adds."""
    quality_effect: Float[Array, ""] = eqx.field(default_factory=lambda: jnp.ones(()))
    """lambda: what one unit of the offers' own quality adds."""

    def tastes(
        self, points: Float[Array, "*market cohort node dim"]
    ) -> Float[Array, "*market cohort node attribute"]:
        """beta_C + W_C u at every node."""
        moved = points @ self.attribute_loading.T
        return moved + jnp.broadcast_to(self.attribute_effect, moved.shape)

    def price_sensitivity(
        self, points: Float[Array, "*market cohort node dim"]
    ) -> Float[Array, "*market cohort node"]:
        """softplus(a_C + v_C' u) at every node."""
        return jax.nn.softplus(points @ self.price_loading + self.price_intercept)

    def choice(
        self,
        offers: Offers,
        points: Float[Array, "*market cohort node dim"],
        moved: Float[Array, "market attribute"] | None = None,
    ) -> Choice:
        """Probabilities at every node; unavailable products take no part in the softmax.

        Points have a market axis where people stand elsewhere in other markets; `moved` is what a
        market's past adds to the tastes of everyone there.
        """
        sensitivity = self.price_sensitivity(points)
        coefficients = jnp.concatenate([self.tastes(points), -sensitivity[..., None]], -1)
        known = jnp.concatenate([offers.attributes, offers.price[..., None]], -1)
        if points.ndim == EVERYWHERE_ALIKE:
            utility = jnp.tensordot(known, coefficients, [[-1], [-1]])
        else:
            utility = jnp.einsum("mja,mgia->mjgi", known, coefficients)
        alike = self._alike(offers)
        if moved is not None:
            alike = alike + jnp.einsum("mja,ma->mj", offers.attributes, moved)
        alike = jnp.broadcast_to(alike[..., None, None], utility.shape)
        return available_softmax(utility + alike, offers.available, offers.outside, sensitivity)

    def _alike(self, offers: Offers) -> Float[Array, "market slot"]:
        """What an offer is worth to everyone beside its attributes."""
        effect = jnp.concatenate([self.level_effect, jnp.zeros(1)])
        return effect[offers.levels].sum(-1) + self.quality_effect * offers.quality


def available_softmax(
    utility: Float[Array, "market slot cohort node"],
    available: Bool[Array, "market slot"],
    outside: Float[Array, " market"],
    sensitivity: Float[Array, "*market cohort node"],
) -> Choice:
    r"""Softmax over available products and, where there is one, an outside option at zero.

    .. math:: p(b) = e^{V_b - m} / (e^{-m} + \sum_{b' \in A} e^{V_{b'} - m})

    with m the largest utility on offer, so that no exponential overflows.
    """
    open_to = jnp.broadcast_to(available[..., None, None], utility.shape)
    utility = jnp.where(open_to, utility, -jnp.inf)
    least = jnp.where(outside > 0, 0.0, -jnp.inf)[:, None, None]
    largest = jnp.maximum(utility.max(1), jnp.broadcast_to(least, utility.max(1).shape))
    largest = jax.lax.stop_gradient(largest)
    relative = jnp.exp(utility - largest[:, None])
    nothing = jnp.exp(-largest) * jnp.broadcast_to(outside[:, None, None], largest.shape)
    total = nothing + relative.sum(1)
    log_sum = largest + jnp.log(total)
    return Choice(relative / total[:, None], nothing / total, log_sum, sensitivity)
