"""Costs that the user knows, spread over markets and slots."""

from collections.abc import Mapping

import numpy as np
import polars as pl
from jaxtyping import Float
from narwhals.typing import IntoFrame

from dgd.choice.markets import Markets
from dgd.tables import checks, refusing
from dgd.tables.frames import to_polars
from dgd.tables.labels import Label

COST = "cost"

Costs = Mapping[Label, float] | IntoFrame
"""`{product: cost}`, or a table with the product, `cost` and, where costs differ, the market."""


def given_costs(markets: Markets, costs: Costs) -> Float[np.ndarray, "market slot"]:
    """The cost of every offer that `costs` speaks of; NaN elsewhere."""
    columns = markets.columns
    if isinstance(costs, Mapping):
        values = list(costs.values())
        table = pl.DataFrame({columns.product: list(costs), COST: values}, strict=False)
    else:
        table, _ = to_polars(costs, "costs")
    refusing.refuse_empty(table, "costs")
    table = refusing.number_rows(table)
    checks.read_labels(table, "costs", columns.product)
    keys = [key for key in columns.keys if key in table.columns]
    for key in keys:
        _refuse_unknown(markets, table, key)
    table = checks.read_values(table, "costs", COST, keys)
    refusing.refuse_duplicates(table, "costs", keys, "a cost", "drop one of them")
    return _spread(markets, table, by_market=columns.market in keys)


def _spread(
    markets: Markets, table: pl.DataFrame, by_market: bool
) -> Float[np.ndarray, "market slot"]:
    """Labels are compared as they are written: 7 is 7 and "7"."""
    columns = markets.columns
    product = map(str, table[columns.product].to_list())
    market = map(str, table[columns.market].to_list()) if by_market else [""] * table.height
    known = dict(zip(zip(market, product, strict=True), table[COST].to_list(), strict=True))
    cost = np.full(markets.price.shape, np.nan)
    for m, j in np.argwhere(markets.listed):
        place = str(markets.markets[m]) if by_market else ""
        cost[m, j] = known.get((place, str(markets.products[markets.product[m, j]])), np.nan)
    return cost


def _refuse_unknown(markets: Markets, table: pl.DataFrame, key: str) -> None:
    labels = markets.markets if key == markets.columns.market else markets.products
    known = pl.col(key).cast(pl.String).is_in([str(label) for label in labels])
    way_out = "is not in the markets; correct the label."
    refusing.refuse(table, "costs", key, ~known, way_out)
