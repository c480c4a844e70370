"""Markets with known truth.

`simulate_markets` draws offers and multinomial counts from the parameters of
a world, and returns beside the counts what no real data can: the choice
probabilities behind them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.choice.demand import shares
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.choice.worlds import ChoiceWorld
from dgd.errors import InputError
from dgd.learning.seeds import checked_seeds
from dgd.runtime import computing
from dgd.tables.frames import from_polars


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
    checked_seeds([seed])
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
