"""Checked rows spread over markets and slots."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from dgd.choice.offer_table import CONSTANT, OfferColumns
from dgd.panel.grids import label_indices
from dgd.tables.labels import Label


def offer_grids(
    rows: pl.DataFrame,
    columns: OfferColumns,
    attribute_names: Sequence[str],
    markets: Sequence[Label],
) -> dict[str, Any]:
    """The grids of `Markets` by name, and the labels of the products on them.

    A market's products take its first slots, in the order of the rows.
    """
    market = label_indices(rows[columns.market], markets)
    slot = rows.select(pl.int_range(pl.len()).over(columns.market)).to_series().to_numpy()
    products = tuple(rows[columns.product].unique(maintain_order=True).to_list())
    shape = (len(markets), int(slot.max()) + 1)

    def grid(values: np.ndarray, empty: Any) -> np.ndarray:
        spread = np.full((*shape, *values.shape[1:]), empty, dtype=values.dtype)
        spread[market, slot] = values
        return spread

    ones = np.ones(rows.height)
    known = [ones if name == CONSTANT else rows[name].to_numpy() for name in attribute_names]
    count = 0 * ones if columns.count is None else rows[columns.count].cast(pl.Float64).to_numpy()
    price = rows[columns.price].fill_null(float("nan")).to_numpy()
    return {
        "product": grid(label_indices(rows[columns.product], products), -1),
        "price": grid(price, np.nan),
        "available": grid(rows[columns.available].to_numpy(), False),
        "attributes": grid(np.stack(known, -1), 0.0),
        "count": grid(count, 0.0),
        "products": products,
    }
