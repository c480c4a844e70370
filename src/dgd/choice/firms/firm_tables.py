"""Tables about firms: costs and markups, prices before and after, and what each firm earns."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.choice.demand import Demand
from dgd.choice.firms.costs import lerner
from dgd.choice.firms.given_costs import COST
from dgd.choice.markets import Markets
from dgd.choice.marks import Marks
from dgd.choice.product_labels import label_column
from dgd.errors import InputError

RESULTS = (
    *("share", COST, "markup", "lerner", "base price", "new price", "difference percent"),
    *("base", "changed", "difference"),
)
"""Column names of these tables that a column of the user's must not have."""


def refuse_result_names(markets: Markets) -> None:
    """Refuse a column of the user's that would stand beside a result of the same name."""
    columns = markets.columns
    for name in (*columns.keys, columns.price, columns.firm):
        if name in RESULTS:
            raise InputError(
                f'column "{name}" has a name that tables about firms use themselves; rename it.'
            )


def costs_table(
    demand: Demand, owners: Marks, cost: Float[np.ndarray, "market slot"]
) -> pl.DataFrame:
    """One row per market and product on offer."""
    markets = demand.markets
    at = np.nonzero(markets.available)
    price = markets.price[at]
    return pl.DataFrame(
        [
            *_labels(markets, owners, at),
            pl.Series(markets.columns.price, price),
            pl.Series("share", demand.shares.products[at]),
            pl.Series(COST, cost[at]),
            pl.Series("markup", price - cost[at]),
            pl.Series("lerner", lerner(price, cost[at])).fill_nan(None),
        ]
    )


def prices_table(
    base: Markets, changed: Markets, owners: Marks, cost: Float[np.ndarray, "market slot"]
) -> pl.DataFrame:
    """One row per market and product on offer: its price before and after."""
    at = np.nonzero(base.available)
    before, after = base.price[at], changed.price[at]
    free = before == 0
    change = np.where(free, np.nan, 100 * (after - before) / np.where(free, 1.0, before))
    return pl.DataFrame(
        [
            *_labels(base, owners, at),
            pl.Series(COST, cost[at]),
            pl.Series("base price", before),
            pl.Series("new price", after),
            pl.Series("difference percent", change).fill_nan(None),
        ]
    )


def profits_table(
    base: Demand, changed: Demand, owners: Marks, cost: Float[np.ndarray, "market slot"]
) -> pl.DataFrame:
    """One row per firm that has anything on offer, over all markets."""
    before, after = (profits(demand, owners, cost) for demand in (base, changed))
    code = owners.code[base.markets.available]
    there = np.unique(code)
    return pl.DataFrame(
        [
            label_column(str(base.markets.columns.firm), owners.labels, there),
            pl.Series("base", before[there]),
            pl.Series("changed", after[there]),
            pl.Series("difference", (after - before)[there]),
        ]
    )


def profits(
    demand: Demand, owners: Marks, cost: Float[np.ndarray, "market slot"]
) -> Float[np.ndarray, " firm"]:
    r"""What each firm earns: the sum of (p - c) s times the opportunities of the market."""
    markets = demand.markets
    at = np.nonzero(markets.available)
    sold = demand.shares.products[at] * markets.size[at[0]]
    earned = (markets.price[at] - cost[at]) * sold
    return np.bincount(owners.code[at], earned, minlength=len(owners.labels))


def _labels(markets: Markets, owners: Marks, at: Sequence[np.ndarray]) -> list[pl.Series]:
    """Market, product and firm; the firm is left out where it is one of the other two."""
    market, slot = at
    columns = markets.columns
    found = [
        label_column(columns.market, markets.markets, market),
        label_column(columns.product, markets.products, markets.product[market, slot]),
    ]
    if columns.firm not in columns.keys:
        code = owners.code[market, slot]
        found.append(label_column(str(columns.firm), owners.labels, code))
    return found
