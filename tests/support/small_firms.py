"""Small markets whose products belong to firms, and random demand for them."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import polars as pl

from dgd.choice import ChoiceDemand, Demand, Markets
from dgd.choice.firms.conduct import Firms
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.marks import Marks
from dgd.runtime import computing
from support.random_choice import ATTRIBUTES, SIZES, make, offers_table, random_demand

OWNERS = {"a": "red", "b": "red", "c": "blue", "d": "gray"}


def firm_markets(owners: dict[str, Any] | None = None) -> Markets:
    """The five markets of `random_choice`, with their firms."""
    return make(_owned(owners or OWNERS), sizes=SIZES, firm="firm")


def captive_markets(owners: dict[str, Any] | None = None) -> Markets:
    """The same where everyone takes one of the products; an attribute stands for the constant."""
    table = _owned(owners or OWNERS).with_columns(pl.col("style").abs().alias("weight"))
    asked = ["weight", *ATTRIBUTES]
    return make(table, attributes=asked, sizes=SIZES, firm="firm", outside=False, market_size=None)


def _owned(owners: dict[str, Any]) -> pl.DataFrame:
    table = offers_table()
    return table.with_columns(pl.Series("firm", [owners[product] for product in table["product"]]))


def elastic_demand(seed: int) -> ChoiceDemand:
    """Random demand in which everyone minds prices enough for firms to have costs above 0."""
    with computing():
        demand = random_demand(seed)
        return eqx.tree_at(lambda m: m.utility.price_intercept, demand, jnp.asarray(9.0))


def small_firms(markets: Markets | None = None, seeds: tuple[int, ...] = (1, 2)) -> Firms:
    markets = firm_markets() if markets is None else markets
    return Firms(tuple(map(elastic_demand, seeds)), FittedOffers.plain(markets), markets)


def profits_of(
    firms: Firms, firm: Any, price: np.ndarray, cost: np.ndarray, owners: Marks | None = None
) -> np.ndarray:
    """What `firm` earns in every market at `price`, from shares alone."""
    markets = replace(firms.markets, price=price)
    owners = owners or firms.owners
    own = markets.available & (owners.code == owners.labels.index(firm))
    with computing():
        share = Demand(firms.parameters, markets, firms.fitted.of(markets)).shares.products
    margin = np.where(own, price - cost, 0.0)
    return markets.size * (margin * share).sum(1)
