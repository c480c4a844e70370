r"""Which differences between people are searched for, as one row of numbers.

.. math:: \theta = (a, \Lambda), \qquad \Lambda = (W, v): \text{ of attributes and price, on } u

The distribution of a standard Gaussian does not change when it is turned, so that loadings above
the diagonal of the matrix Lambda are held at zero: those left say everything.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.choice.scales import Scales
from dgd.choice.utility import Utility
from dgd.model.population.fixed_gaussian import FixedGaussian
from dgd.model.population.gaussian_mixture import GaussianMixture, raw_scale
from dgd.model.population.population import AbstractPopulation
from dgd.model.population.support_points import SupportPoints

LEAST_SENSITIVITY = 1e-6
"""What stands for the sensitivity where demand slopes upward, on the scale of a typical price."""
FIRST_LOADING = 0.5
"""Loadings at the start: at zero no derivative would say which way to go."""


class RandomTastes(eqx.Module):
    """A population, and which loadings on it are free; what is alike for all is left out."""

    population: AbstractPopulation
    scales: Scales
    attributes: int = eqx.field(static=True)
    dim: int = eqx.field(static=True)
    free: tuple[tuple[int, int], ...] = eqx.field(static=True)
    """Row and dimension of each free loading; the row after the last attribute is price."""
    price_is_linear: bool = eqx.field(static=True)
    """Whether price is valued alike and left to the linear part, with either sign."""

    @property
    def number(self) -> int:
        """How many numbers theta has."""
        return len(self.free) + (not self.price_is_linear)

    def demand(self, theta: Float[Array, " parameter"]) -> ChoiceDemand:
        """Demand with these differences; the common tastes are zero, as quality holds them."""
        intercept = jnp.zeros(()) if self.price_is_linear else theta[0]
        loadings = jnp.zeros((self.attributes + 1, self.dim))
        if self.free:
            row, column = np.array(self.free).T
            loadings = loadings.at[row, column].set(theta[self.number - len(self.free) :])
        utility = Utility(jnp.zeros(self.attributes), loadings[:-1], intercept, loadings[-1])
        return ChoiceDemand(self.population, utility, self.scales)

    def offers(self, offers: Offers) -> Offers:
        """The offers as this part of the model sees them."""
        if not self.price_is_linear:
            return offers
        return offers._replace(price=jnp.zeros_like(offers.price))

    def start(self, sensitivity: float, rng: np.random.Generator | None) -> np.ndarray:
        """Where a search begins: at the logit's price sensitivity; `rng` draws the loadings."""
        size = len(self.free)
        loadings = np.full(size, FIRST_LOADING) if rng is None else rng.normal(size=size)
        if self.price_is_linear:
            return loadings
        return np.r_[raw_sensitivity(max(sensitivity, 0.1)), loadings]

    def names(self, attribute_names: tuple[str, ...], price: str) -> tuple[str, ...]:
        """What each number of theta is."""
        rows = (*attribute_names, price)
        loadings = tuple(f"loading of {rows[row]} on {column + 1}" for row, column in self.free)
        return loadings if self.price_is_linear else (f"intercept of {price}", *loadings)


def alike(markets: Markets, dim: int) -> RandomTastes:
    """Everyone the same: the logit, with price in its linear part."""
    cohorts, attributes = len(markets.cohorts), len(markets.attribute_names)
    point = SupportPoints(jnp.zeros((cohorts, 1)), jnp.zeros((cohorts, 1, dim)))
    return RandomTastes(point, Scales.of(markets), attributes, dim, (), True)


def different(markets: Markets, dim: int, nodes: int) -> RandomTastes:
    """Standard Gaussian differences in every taste and in price sensitivity."""
    cohorts, attributes = len(markets.cohorts), len(markets.attribute_names)
    free = [(row, column) for row in range(attributes + 1) for column in range(min(row + 1, dim))]
    return RandomTastes(
        standard_gaussian(cohorts, dim, nodes),
        Scales.of(markets),
        attributes,
        dim,
        tuple(free),
        False,
    )


def standard_gaussian(cohorts: int, dim: int, nodes: int) -> FixedGaussian:
    """Mean 0 and variance 1 in every dimension of every cohort, not learned."""
    return FixedGaussian(
        GaussianMixture(
            logits=jnp.zeros((cohorts, 1)),
            means=jnp.zeros((cohorts, 1, dim)),
            raw_diagonal=jnp.full((cohorts, 1, dim), raw_scale(1.0)),
            below_diagonal=jnp.zeros((cohorts, 1, dim * (dim - 1) // 2)),
            initial_scale=1.0,
            nodes=nodes,
        )
    )


def raw_sensitivity(sensitivity: float) -> float:
    """The intercept whose softplus is `sensitivity`, or the least one there can be."""
    least = max(sensitivity, LEAST_SENSITIVITY)
    return float(least + np.log(-np.expm1(-least)))
