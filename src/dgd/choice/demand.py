"""Demand: what a fit, averaged over its seeds, says about markets.

Shares and their derivatives are averaged first and divided afterwards, so that
elasticities and diversion ratios are those of the averaged demand.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import equinox as eqx
import numpy as np
import polars as pl
from jaxtyping import Array, Float

from dgd.choice.choice_demand import ChoiceDemand, PriceDerivatives, Shares
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.choice.product_labels import label_column
from dgd.runtime import computing


@eqx.filter_jit
def shares(model: ChoiceDemand, offers: Offers) -> Shares:
    return model.shares(offers)


@eqx.filter_jit
def surplus_at_nodes(model: ChoiceDemand, offers: Offers) -> Float[Array, "market cohort node"]:
    return model.surplus_at_nodes(offers)


@eqx.filter_jit
def price_derivatives(model: ChoiceDemand, offers: Offers) -> PriceDerivatives:
    return model.price_derivatives(offers)


@dataclass(frozen=True, eq=False)
class Demand:
    """Shares, derivatives and surplus of `markets`, averaged over each seed's `parameters`."""

    parameters: tuple[ChoiceDemand, ...]
    markets: Markets
    offers: Offers | None = None
    """The markets as the parameters see them; without it, their columns alone."""

    @cached_property
    def shares(self) -> Shares:
        with computing():
            offers = self.seen
            return Shares(*_mean(shares(model, offers) for model in self.parameters))

    @cached_property
    def price_derivatives(self) -> PriceDerivatives:
        with computing():
            offers = self.seen
            return PriceDerivatives(*_mean(price_derivatives(m, offers) for m in self.parameters))

    @cached_property
    def surplus_at_nodes(self) -> Float[np.ndarray, "seed market cohort node"]:
        """What each node adds to the consumer surplus of one opportunity, in money."""
        with computing():
            offers = self.seen
            parts = [np.asarray(surplus_at_nodes(model, offers)) for model in self.parameters]
        return np.stack(parts)

    @property
    def surplus(self) -> Float[np.ndarray, " market"]:
        """Consumer surplus of one opportunity, in money."""
        return np.asarray(self.surplus_at_nodes.sum((2, 3)).mean(0))

    def shares_table(self) -> pl.DataFrame:
        """One row per market and product: share and count; and one for buying nothing."""
        markets, columns = self.markets, self.markets.columns
        market, slot = np.nonzero(markets.listed)
        everywhere = np.arange(len(markets.markets) if markets.has_outside else 0)
        share = np.r_[self.shares.products[market, slot], self.shares.outside[everywhere]]
        market_index = np.r_[market, everywhere]
        nothing = np.full(len(everywhere), np.nan)
        table = pl.DataFrame(
            [
                _market_labels(markets, market_index),
                self._products(columns.product, markets.product[market, slot], len(everywhere)),
                pl.Series(columns.price, np.r_[markets.price[market, slot], nothing]).fill_nan(
                    None
                ),
                pl.Series("share", share),
                pl.Series("count", share * markets.size[market_index]),
            ]
        )
        return table[np.argsort(market_index, stable=True)]

    def elasticities_table(self) -> pl.DataFrame:
        r"""One row per market, product and price.

        .. math:: \epsilon_{jk} = \frac{p_k}{s_j} \frac{\partial s_j}{\partial p_k}
        """
        markets = self.markets
        market, product, moved = self._available_pairs()
        with np.errstate(divide="ignore", invalid="ignore"):
            elasticity = (
                self.price_derivatives.products[market, product, moved]
                * markets.price[market, moved]
                / self.shares.products[market, product]
            )
        return pl.DataFrame(
            [
                _market_labels(markets, market),
                self._products(markets.columns.product, markets.product[market, product]),
                self._products("price of", markets.product[market, moved]),
                pl.Series("elasticity", elasticity),
            ]
        )

    def diversion_table(self) -> pl.DataFrame:
        r"""One row per market, product whose price rises, and where its buyers go.

        .. math:: D_{jk} = -\frac{\partial s_k / \partial p_j}{\partial s_j / \partial p_j}

        Over the other products and the outside option the ratios of a product sum to one.
        """
        markets = self.markets
        to_products, to_outside = self.price_derivatives
        own = np.einsum("mjj->mj", to_products)
        market, to, product = self._available_pairs()
        other = to != product
        market, to, product = market[other], to[other], product[other]
        left, leaving = np.nonzero(markets.available & markets.has_outside)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.r_[
                -to_products[market, to, product] / own[market, product],
                -to_outside[left, leaving] / own[left, leaving],
            ]
        market_index, slot = np.r_[market, left], np.r_[product, leaving]
        table = pl.DataFrame(
            [
                _market_labels(markets, market_index),
                self._products(markets.columns.product, markets.product[market_index, slot]),
                self._products("to", markets.product[market, to], len(left)),
                pl.Series("diversion", ratio),
            ]
        )
        return table[np.lexsort((slot, market_index))]

    def surplus_table(self) -> pl.DataFrame:
        """One row per market: surplus of one opportunity and of all of them."""
        markets = self.markets
        return pl.DataFrame(
            [
                _market_labels(markets, np.arange(len(markets.markets))),
                pl.Series("opportunities", markets.size),
                pl.Series("surplus per opportunity", self.surplus),
                pl.Series("surplus", self.surplus * markets.size),
            ]
        )

    @property
    def seen(self) -> Offers:
        """The markets as arrays."""
        return Offers.of(self.markets) if self.offers is None else self.offers

    def _available_pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        available = self.markets.available
        market, first, second = np.nonzero(available[:, :, None] & available[:, None, :])
        return market, first, second

    def _products(self, name: str, indices: np.ndarray, outside: int = 0) -> pl.Series:
        """Product labels as the table has them, and `outside` rows for buying nothing."""
        return label_column(name, self.markets.products, indices, outside)


def _mean(parts: Iterable[tuple[Array, ...]]) -> tuple[Any, ...]:
    """Each array averaged over the seeds."""
    gathered = zip(*parts, strict=True)
    return tuple(np.mean([np.asarray(x) for x in same], axis=0) for same in gathered)


def _market_labels(markets: Markets, indices: np.ndarray) -> pl.Series:
    return label_column(markets.columns.market, markets.markets, indices)
