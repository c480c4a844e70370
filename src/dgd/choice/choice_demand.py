"""ChoiceDemand: a population, its utility, and the scales they are learned on."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from dgd.choice.offers import Offers
from dgd.choice.scales import Scales
from dgd.choice.utility import Choice, Utility
from dgd.model.population.population import AbstractPopulation


class Shares(NamedTuple):
    """Parts of all opportunities; those of a market sum to one."""

    products: Float[Array, "market slot"]
    outside: Float[Array, " market"]


class PriceDerivatives(NamedTuple):
    """How shares move with prices; the last axis is the slot whose price moves."""

    products: Float[Array, "market slot slot"]
    outside: Float[Array, "market slot"]


class ChoiceDemand(eqx.Module):
    r"""Aggregate demand of a population of choosers.

    .. math:: s_b = \sum_g \frac{n_g}{\sum n} E_{P_g}[p(b \mid U)]
    """

    population: AbstractPopulation
    utility: Utility
    scales: Scales

    def shares(self, offers: Offers) -> Shares:
        """Shares of every product and of the outside option in every market."""
        points, weight = self.weighted_nodes(offers)
        return summed(self.choice(offers, points), weight)

    def price_derivatives(self, offers: Offers) -> PriceDerivatives:
        r"""The derivative of every share with respect to every price of its market.

        .. math:: \frac{\partial s_j}{\partial price_k} = \sum_g \frac{n_g}{\sum n}
            E_{P_g}[\alpha(U) \, p(j \mid U) (p(k \mid U) - 1_{j = k})]

        Written out rather than differentiated: this is one matrix product a market, where
        automatic differentiation would pass through the softmax once for every price.
        """
        points, weight = self.weighted_nodes(offers)
        choice = self.choice(offers, points)
        weight = weight * self._money(choice, weight.shape)
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
        points, weight = self.weighted_nodes(offers)
        choice = self.choice(offers, points)
        return weight * choice.log_sum / self._money(choice, weight.shape)

    def choice(self, offers: Offers, points: Float[Array, "cohort node dim"]) -> Choice:
        """Probabilities at every point."""
        return self.utility.choice(self.scales.scaled(offers), points)

    def _money(self, choice: Choice, shape: tuple[int, ...]) -> Float[Array, "market cohort node"]:
        """What one unit of money takes from utility, in every market."""
        return jnp.broadcast_to(choice.sensitivity / self.scales.price, shape)

    def weighted_nodes(
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
        return self.scales.tastes(self.utility.tastes(points))

    def price_sensitivity(
        self, points: Float[Array, "cohort node dim"]
    ) -> Float[Array, "cohort node"]:
        """What one unit of money takes from utility, per node."""
        return self.utility.price_sensitivity(points) / self.scales.price

    def trainable(self) -> PyTree[bool]:
        """True for every array that training may change."""
        everything = jax.tree.map(lambda _: True, self)
        fixed = jax.tree.map(lambda _: False, self.scales)
        parts = (self.population.trainable(), fixed)
        return eqx.tree_at(lambda m: (m.population, m.scales), everything, parts)


def summed(choice: Choice, weight: Float[Array, "market cohort node"]) -> Shares:
    """The shares of people who choose so and weigh so much."""
    return Shares(
        jnp.einsum("mjgi,mgi->mj", choice.products, weight),
        jnp.einsum("mgi,mgi->m", choice.outside, weight),
    )
