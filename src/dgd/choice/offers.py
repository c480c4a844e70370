"""Offers as arrays: what the model sees of every market."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from dgd.choice.markets import Markets


class Offers(NamedTuple):
    """What people choose from in every market; slots without a product are unavailable."""

    attributes: Float[Array, "market slot attribute"]
    price: Float[Array, "market slot"]
    available: Bool[Array, "market slot"]
    weight: Float[Array, "market cohort"]
    """n_g / sum of n: the cohorts' parts in the market."""

    @staticmethod
    def of(markets: Markets) -> "Offers":
        price = np.where(markets.available, markets.price, 0.0)
        weight = markets.cohort_size / markets.cohort_size.sum(1, keepdims=True)
        return Offers(
            jnp.asarray(markets.attributes),
            jnp.asarray(price),
            jnp.asarray(markets.available),
            jnp.asarray(weight),
        )
