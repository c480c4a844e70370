"""Scales: what attributes and prices are divided by before anything is learned from them."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.choice.markets import Markets
from dgd.choice.offers import Offers


class Scales(NamedTuple):
    """The scales on which parameters are learned.

    Attributes are centred where the constant can take up the shift, and
    divided by their spread; prices are only divided, since a shift of price
    is not a shift of utility when people differ in price sensitivity.
    Tastes and sensitivities are given back in the user's own units.
    """

    center: Float[Array, " attribute"]
    spread: Float[Array, " attribute"]
    price: Float[Array, ""]

    @staticmethod
    def plain(attributes: int) -> "Scales":
        """Attributes and prices as they are."""
        return Scales(jnp.zeros(attributes), jnp.ones(attributes), jnp.ones(()))

    @staticmethod
    def of(markets: Markets) -> "Scales":
        """Center and spread over the products available in `markets`."""
        known = markets.attributes[markets.available]
        center, spread = known.mean(0), known.std(0)
        if markets.has_constant:
            center[0], spread[0] = 0.0, 1.0
        else:
            center, spread = np.zeros_like(center), np.sqrt((known**2).mean(0))
        spread = np.where(spread > 0, spread, 1.0)
        prices = markets.price[markets.available]
        return Scales(
            jnp.asarray(center), jnp.asarray(spread), jnp.asarray(np.sqrt((prices**2).mean()))
        )

    def scaled(self, offers: Offers) -> Offers:
        center, spread = (jnp.expand_dims(x, (0, 1)) for x in (self.center, self.spread))
        return offers._replace(
            attributes=(offers.attributes - center) / spread, price=offers.price / self.price
        )

    def tastes(
        self, scaled: Float[Array, "*points attribute"]
    ) -> Float[Array, "*points attribute"]:
        """Tastes per unit of each attribute; the constant, which comes first, takes the shift."""
        tastes = scaled / jnp.broadcast_to(self.spread, scaled.shape)
        if not scaled.shape[-1]:
            return tastes
        return tastes.at[..., 0].add(-(tastes @ self.center))
