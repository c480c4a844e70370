"""ChoiceDemand: a population, a choice readout, and the units they are learned in."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from dgd.choice.markets import Markets
from dgd.choice.offers import CONSTANT
from dgd.choice.readout import ChoiceReadout, Offers
from dgd.model.population import AbstractPopulation


class Shares(NamedTuple):
    """Parts of all opportunities; those of a market sum to one."""

    products: Float[Array, "market slot"]
    outside: Float[Array, " market"]


class PriceDerivatives(NamedTuple):
    """How shares move with prices; the last axis is the slot whose price moves."""

    products: Float[Array, "market slot slot"]
    outside: Float[Array, "market slot"]


class Units(NamedTuple):
    """The scale on which parameters are learned.

    Attributes are centred where the constant can take up the shift, and
    divided by their spread; prices are only divided, since a shift of price
    is not a shift of utility when people differ in price sensitivity.
    Tastes and sensitivities are given back in the user's own units.
    """

    center: Float[Array, " attribute"]
    spread: Float[Array, " attribute"]
    price: Float[Array, ""]

    @staticmethod
    def plain(attributes: int) -> "Units":
        """Attributes and prices as they are."""
        return Units(jnp.zeros(attributes), jnp.ones(attributes), jnp.ones(()))

    @staticmethod
    def of(markets: Markets) -> "Units":
        """Center and spread over the products available in `markets`."""
        known = markets.attributes[markets.available]
        center, spread = known.mean(0), known.std(0)
        if markets.attribute_names[0] == CONSTANT:
            center[0], spread[0] = 0.0, 1.0
        else:
            center, spread = np.zeros_like(center), np.sqrt((known**2).mean(0))
        prices = markets.price[markets.available]
        return Units(
            jnp.asarray(center), jnp.asarray(spread), jnp.asarray(np.sqrt((prices**2).mean()))
        )

    def scaled(self, offers: Offers) -> Offers:
        center, spread = (jnp.expand_dims(x, (0, 1)) for x in (self.center, self.spread))
        return offers._replace(
            attributes=(offers.attributes - center) / spread, price=offers.price / self.price
        )

    def tastes(
        self, scaled: Float[Array, "cohort node attribute"]
    ) -> Float[Array, "cohort node attribute"]:
        """Tastes per unit of each attribute; the constant, which comes first, takes the shift."""
        tastes = scaled / jnp.broadcast_to(self.spread, scaled.shape)
        return tastes.at[..., 0].add(-(tastes @ self.center))


class ChoiceDemand(eqx.Module):
    r"""Aggregate demand of a population of choosers.

    .. math:: s_b = \sum_g \frac{n_g}{\sum n} E_{P_g}[p(b \mid U)]
    """

    population: AbstractPopulation
    readout: ChoiceReadout
    units: Units

    def shares(self, offers: Offers) -> Shares:
        """Shares of every product and of the outside option in every market."""
        points, weight = self.nodes(offers)
        choice = self.readout.choice(self.units.scaled(offers), points)
        return Shares(
            jnp.einsum("mjgi,mgi->mj", choice.products, weight),
            jnp.einsum("mgi,mgi->m", choice.outside, weight),
        )

    def price_derivatives(self, offers: Offers) -> PriceDerivatives:
        r"""The derivative of every share with respect to every price of its market.

        .. math:: \frac{\partial s_j}{\partial price_k} = \sum_g \frac{n_g}{\sum n}
            E_{P_g}[\alpha(U) \, p(j \mid U) (p(k \mid U) - 1_{j = k})]

        Written out rather than differentiated: this is one matrix product a market, where
        automatic differentiation would pass through the softmax once for every price.
        """
        points, weight = self.nodes(offers)
        choice = self.readout.choice(self.units.scaled(offers), points)
        weight = weight * self.price_sensitivity(points)[None]
        moved = choice.products * weight[:, None]
        own = jnp.expand_dims(jnp.eye(moved.shape[1]), 0) * moved.sum((2, 3))[..., None]
        return PriceDerivatives(
            jnp.einsum("mjgi,mkgi->mjk", choice.products, moved) - own,
            jnp.einsum("mgi,mkgi->mk", choice.outside, moved),
        )

    def surplus_at_nodes(self, offers: Offers) -> Float[Array, "market cohort node"]:
        r"""What each node adds to the expected consumer surplus of one opportunity, in money.

        .. math:: \sum_g \frac{n_g}{\sum n} E_{P_g}
            \left[\log\Big(1 + \sum_b e^{V_b(U)}\Big) / \alpha(U)\right]

        where alpha is the price sensitivity in the user's units; the surplus is the sum over
        cohorts and nodes.
        """
        points, weight = self.nodes(offers)
        log_sum = self.readout.choice(self.units.scaled(offers), points).log_sum
        money = jnp.broadcast_to(self.price_sensitivity(points)[None], log_sum.shape)
        return weight * log_sum / money

    def nodes(
        self, offers: Offers
    ) -> tuple[Float[Array, "cohort node dim"], Float[Array, "market cohort node"]]:
        """The support points, and what each weighs in each market; weights sum to one there."""
        support = self.population.support()
        weight = offers.weight[..., None] * jnp.exp(support.log_weights)[None]
        return support.points, weight

    def tastes(
        self, points: Float[Array, "cohort node dim"]
    ) -> Float[Array, "cohort node attribute"]:
        """What one unit of each attribute adds to utility, per node."""
        return self.units.tastes(self.readout.tastes(points))

    def price_sensitivity(
        self, points: Float[Array, "cohort node dim"]
    ) -> Float[Array, "cohort node"]:
        """What one unit of money takes from utility, per node."""
        return self.readout.price_sensitivity(points) / self.units.price

    def trainable(self) -> PyTree[bool]:
        """True for every array that training may change."""
        everything = jax.tree.map(lambda _: True, self)
        fixed = jax.tree.map(lambda _: False, self.units)
        parts = (self.population.trainable(), fixed)
        return eqx.tree_at(lambda m: (m.population, m.units), everything, parts)
