r"""How the quality that explains given shares moves with the model's parameters.

.. math:: s(\xi(\theta), \theta) = s^{obs} \quad\Rightarrow\quad
    \frac{\partial \xi}{\partial \theta} = -\Big[\frac{\partial s}{\partial \xi}\Big]^{-1}
    \frac{\partial s}{\partial \theta}

one small system a market: exact, however many steps the inversion took.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.offers import Offers


def quality_slopes(
    demand_at: Callable[[Float[Array, " parameter"]], ChoiceDemand],
    parameters: Float[Array, " parameter"],
    offers: Offers,
) -> Float[Array, "market slot parameter"]:
    """d xi / d theta at `parameters`, at which `offers.quality` explains the observed shares."""
    markets, slots = offers.available.shape
    if not len(parameters):
        return jnp.zeros((markets, slots, 0))
    shares = _slopes(lambda at: demand_at(at).shares(offers).products, parameters)
    solved = jnp.linalg.solve(share_slopes(demand_at(parameters), offers), shares)
    open_to = jnp.broadcast_to(offers.available[..., None], solved.shape)
    return jnp.where(open_to, -solved, 0.0)


def share_slopes(demand: ChoiceDemand, offers: Offers) -> Float[Array, "market slot slot"]:
    """d s / d xi, the last axis the slot whose quality moves; 1 where nothing is available."""

    def moved(along: Float[Array, " slot"]) -> Float[Array, "market slot"]:
        return demand.shares(
            offers._replace(quality=offers.quality + jnp.broadcast_to(along, offers.quality.shape))
        ).products

    slopes = _slopes(moved, jnp.zeros(offers.quality.shape[1]))
    missing = jnp.where(offers.available, 0.0, 1.0)[..., None]
    return slopes + missing * jnp.eye(slopes.shape[1])[None]


def _slopes(
    shares: Callable[[Float[Array, " direction"]], Float[Array, "market slot"]],
    at: Float[Array, " direction"],
) -> Float[Array, "market slot direction"]:
    """The derivative along each direction, one after the other: together they fill memory."""
    columns = jax.lax.map(lambda along: jax.jvp(shares, (at,), (along,))[1], jnp.eye(len(at)))
    return jnp.moveaxis(columns, 0, -1)
