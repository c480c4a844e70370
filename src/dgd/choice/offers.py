"""Offers as arrays: what the model sees of every market."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dgd.choice.dynamics.history import MarketHistory
from dgd.choice.markets import Markets


class Offers(NamedTuple):
    """What people choose from in every market; slots without a product are unavailable."""

    attributes: Float[Array, "market slot attribute"]
    price: Float[Array, "market slot"]
    available: Bool[Array, "market slot"]
    weight: Float[Array, "market cohort"]
    """n_g / sum of n: the cohorts' parts in the market."""
    outside: Float[Array, " market"]
    """1 where buying nothing is possible, 0 where everyone takes one of the products."""
    levels: Int[Array, "market slot absorbed"]
    """Which absorbed effects the offer has; -1 where none."""
    quality: Float[Array, "market slot"]
    """What is known of quality that no column holds: a first stage's residual, or xi itself."""
    history: MarketHistory | None = None
    """What was bought before in the places of the markets; without it every place is as usual."""

    @staticmethod
    def of(
        markets: Markets,
        quality: Float[np.ndarray, "market slot"] | None = None,
        levels: Int[np.ndarray, "market slot absorbed"] | None = None,
    ) -> "Offers":
        shape = markets.available.shape
        price = np.where(markets.available, markets.price, 0.0)
        weight = markets.cohort_size / markets.cohort_size.sum(1, keepdims=True)
        none = np.zeros((*shape, 0), np.int64)
        return Offers(
            jnp.asarray(markets.attributes),
            jnp.asarray(price),
            jnp.asarray(markets.available),
            jnp.asarray(weight),
            jnp.asarray(np.full(shape[0], float(markets.has_outside))),
            jnp.asarray(none if levels is None else levels),
            jnp.asarray(np.zeros(shape) if quality is None else quality),
        )

    def at(self, markets: Int[Array, " market"]) -> "Offers":
        """Some of the markets."""
        own: Offers = jax.tree.map(lambda x: x[markets], self._replace(history=None))
        return own._replace(history=None if self.history is None else self.history.at(markets))
