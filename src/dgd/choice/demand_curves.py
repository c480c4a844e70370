"""Demand as one price moves: what a product sells and earns at prices that are tried."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from jaxtyping import Bool, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.demand import Demand
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.errors import InputError
from dgd.tables.checks import LARGEST_VALUE
from dgd.tables.labels import Label

COLUMNS = ("price", "count", "revenue", "count of all", "revenue of all")


def demand_curve_table(
    parameters: tuple[ChoiceDemand, ...],
    offers_of: Callable[[Markets], Offers],
    markets: Markets,
    product: Label,
    prices: Sequence[float] | np.ndarray,
) -> pl.DataFrame:
    """One row per price: the product's count and revenue, and those of all products.

    Args:
        parameters: those of every seed; shares are averaged over them.
        offers_of: how markets are seen by the parameters.
        markets: where the prices are asked; only the price of the product moves there.
        product: its label, as the markets have it.
        prices: those to try.
    """
    own = slots_of(markets, product)
    rows = []
    for price in tried_prices(prices):
        asked = at_price(markets, own, price)
        shares = Demand(parameters, asked, offers_of(asked)).shares
        sold = shares.products * markets.size[:, None]
        earned = sold * np.where(markets.available, asked.price, 0.0)
        rows.append((price, sold[own].sum(), earned[own].sum(), sold.sum(), earned.sum()))
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.Float64), orient="row")


def slots_of(markets: Markets, product: Label) -> Bool[np.ndarray, "market slot"]:
    """Where `product` is listed."""
    if product not in markets.products:
        raise InputError(f"product {product!r} is not in the markets; correct the label.")
    return np.asarray(markets.product == markets.products.index(product))


def at_price(markets: Markets, slots: Bool[np.ndarray, "market slot"], price: float) -> Markets:
    """The markets with one price in some slots; their sales are then not known.

    `Markets.with_prices` reads and checks a table of all offers, which takes far longer than
    computing their shares.
    """
    return replace(
        markets,
        price=np.where(slots, price, markets.price),
        count=np.zeros_like(markets.count),
        columns=replace(markets.columns, count=None),
    )


def tried_prices(prices: Sequence[float] | np.ndarray) -> Float[np.ndarray, " price"]:
    """The prices to try, each a number that can be a price."""
    if not len(prices):
        raise InputError("prices is empty; give the prices to try.")
    tried = np.asarray(prices, float)
    wrong = ~((tried >= 0) & (tried <= LARGEST_VALUE))
    if wrong.any():
        raise InputError(
            f"prices: {tried[wrong][0]:g} is not what a buyer can pay; give finite numbers from "
            "0 on."
        )
    return tried
