r"""The markup equation of Morrow and Skerlos, which prices can be found from step by step.

.. math:: \frac{\partial s_j}{\partial p_k} = \Gamma_{jk} - 1_{j = k} \Lambda_j, \qquad
    \Lambda_j = E[\alpha(U) \, p(j \mid U)], \qquad
    \Gamma_{jk} = E[\alpha(U) \, p(j \mid U) \, p(k \mid U)]

.. math:: p - c = \zeta(p), \qquad
    \zeta_j = \frac{s_j + \sum_k O_{jk} \Gamma_{kj} (p_k - c_k)}{\Lambda_j}

holds exactly where the first-order conditions of all firms hold. Dividing by Lambda, not by the
whole derivative as the markups of `costs` do, is what makes the steps find their way.
"""

from functools import reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.offers import Offers


class ShareSlopes(NamedTuple):
    """Shares, and the two parts of their derivatives with respect to prices."""

    shares: Float[Array, "market slot"]
    own: Float[Array, "market slot"]
    """Lambda."""
    joint: Float[Array, "market slot slot"]
    """Gamma."""


def slopes(parameters: tuple[ChoiceDemand, ...], offers: Offers) -> ShareSlopes:
    """Averaged over each seed's parameters."""
    parts = [_slopes(model, offers) for model in parameters]
    total = reduce(lambda a, b: jax.tree.map(jnp.add, a, b), parts)
    return ShareSlopes(*(part / len(parts) for part in total))


def zeta(
    at: ShareSlopes,
    markup: Float[Array, "market slot"],
    ownership: Float[Array, "market slot slot"],
) -> Float[Array, "market slot"]:
    """The markups that the equation asks for; a product that nobody buys keeps its own."""
    others = jnp.einsum("mjk,mkj,mk->mj", ownership, at.joint, markup)
    bought = at.own != 0
    return jnp.where(bought, (at.shares + others) / jnp.where(bought, at.own, 1.0), markup)


def _slopes(model: ChoiceDemand, offers: Offers) -> ShareSlopes:
    """Lambda is what prices take from the expected log-sum, whatever moves the tastes of a market;
    Gamma is what it leaves of the model's own derivatives, so that prices that solve the equation
    meet the first-order conditions."""
    points, weight = model.weighted_nodes(offers)

    def expected_log_sum(price: Float[Array, "market slot"]) -> Float[Array, ""]:
        return (weight * model.choice(offers._replace(price=price), points).log_sum).sum()

    own = -jax.grad(expected_log_sum)(offers.price)
    diagonal = own[..., None] * jnp.eye(own.shape[1])[None]
    joint = model.price_derivatives(offers).products + diagonal
    return ShareSlopes(model.shares(offers).products, own, joint)
