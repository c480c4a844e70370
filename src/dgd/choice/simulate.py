"""Markets with known truth.

`simulate_markets` draws offers and multinomial counts from given parameters,
and returns beside the counts what no real data can: the choice probabilities
behind them. `gaussian_world` and `discrete_world` are the two generators of
the controlled choice experiment. The paper names their structure and no
values; these are ours, picked on other seeds than the experiment's so that a
population without differences does about as badly as the paper's, with the
scores of all models in view.
"""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.demand import shares
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.choice.scales import Scales
from dgd.choice.utility import Utility
from dgd.errors import InputError
from dgd.model.population import AbstractPopulation, GaussianMixture, SupportPoints, raw_scale
from dgd.runtime import computing
from dgd.tables.frames import from_polars

PRODUCTS = ("a", "b", "c")
ATTRIBUTES = ("quality", "style")
OPPORTUNITIES = 4000
TRUE_NODES = 25
"""Nodes per dimension behind the true probabilities: many more than a fit uses."""


@dataclass(frozen=True, eq=False)
class ChoiceWorld:
    """Parameters to draw from, and the range of the prices to draw.

    Attributes are the constant and, standard normal, those named.
    """

    model: ChoiceDemand
    products: tuple[str, ...] = PRODUCTS
    attributes: tuple[str, ...] = ATTRIBUTES
    prices: tuple[float, float] = (0.5, 3.5)
    opportunities: int = OPPORTUNITIES


@dataclass(frozen=True, eq=False)
class SimulatedMarkets:
    """Markets and the truth behind them."""

    world: ChoiceWorld
    markets: Markets
    products: Float[np.ndarray, "market slot"]
    """True shares of the products."""
    outside: Float[np.ndarray, " market"]
    """True share of buying nothing."""

    def truth_to_frame(self, kind: str = "polars") -> Any:
        """One row per market and product: the true share."""
        market, slot = np.nonzero(self.markets.listed)
        table = self.markets.rows().select(self.markets.columns.keys)
        return from_polars(
            table.with_columns(pl.Series("share", self.products[market, slot])), kind
        )


def simulate_markets(world: ChoiceWorld, markets: int, seed: int) -> SimulatedMarkets:
    """Draw `markets` markets from `world`; the same seed draws the same counts."""
    if markets < 1:
        raise InputError(f"markets is {markets}; draw at least one.")
    rng = np.random.default_rng(seed)
    shape = (markets, len(world.products))
    known = rng.normal(size=(*shape, len(world.attributes)))
    price = rng.uniform(*world.prices, size=shape)
    table = pl.DataFrame(
        {
            "market": np.repeat(np.arange(1, markets + 1), shape[1]),
            "product": list(world.products) * markets,
            "price": price.ravel(),
            **{name: known[..., index].ravel() for index, name in enumerate(world.attributes)},
        }
    )
    offered = Markets.from_table(table, count=None, attributes=world.attributes)
    with computing():
        found = shares(world.model, Offers.of(offered))
        products, outside = np.asarray(found.products), np.asarray(found.outside)
    chances = np.c_[products, outside]
    counts = rng.multinomial(world.opportunities, chances / chances.sum(1, keepdims=True))
    counted = Markets.from_table(
        table.with_columns(pl.Series("count", counts[:, :-1].ravel())),
        attributes=world.attributes,
        market_size=world.opportunities,
    )
    return SimulatedMarkets(world, counted, products, outside)


def gaussian_world() -> ChoiceWorld:
    """Two Gaussian types: many who watch the price, fewer who look for quality."""
    with computing():
        population = GaussianMixture(
            logits=jnp.asarray([[0.3, -0.3]]),
            means=jnp.asarray([[[-1.2, 0.4], [1.4, -0.5]]]),
            raw_diagonal=jnp.asarray([[[raw_scale(0.6), raw_scale(1.0)]] * 2]),
            below_diagonal=jnp.asarray([[[0.3], [-0.3]]]),
            initial_scale=0.5,
            nodes=TRUE_NODES,
        )
        return ChoiceWorld(_demand(population))


def discrete_world() -> ChoiceWorld:
    """Half the people watch the price; two smaller kinds look for quality, with unlike styles."""
    with computing():
        population = SupportPoints(
            logits=jnp.log(jnp.asarray([[0.5, 0.25, 0.25]])),
            points=jnp.asarray([[[-1.5, 0.3], [1.2, -0.9], [1.6, 0.9]]]),
        )
        return ChoiceWorld(_demand(population))


def _demand(population: AbstractPopulation) -> ChoiceDemand:
    """Propensity moves price sensitivity and quality in its first dimension, style in both."""
    utility = Utility(
        attribute_effect=jnp.asarray([1.0, 0.8, 0.2]),
        attribute_loading=jnp.asarray([[0.6, 0.3], [0.9, -0.4], [0.3, 1.2]]),
        price_intercept=jnp.asarray(0.8),
        price_loading=jnp.asarray([-1.2, 0.3]),
    )
    return ChoiceDemand(population, utility, Scales.plain(3))
