"""Checked rows spread over markets and slots."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from dgd.choice.marks import Marks, label_codes
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
    product, products = label_codes(rows[columns.product])
    shape = (len(markets), int(slot.max()) + 1)

    def grid(values: np.ndarray, empty: Any) -> np.ndarray:
        spread = np.full((*shape, *values.shape[1:]), empty, dtype=values.dtype)
        spread[market, slot] = values
        return spread

    ones = np.ones(rows.height)
    known = [ones if name == CONSTANT else rows[name].to_numpy() for name in attribute_names]
    coded = {name: label_codes(rows[name]) for name in columns.marks}
    count = 0 * ones if columns.count is None else rows[columns.count].cast(pl.Float64).to_numpy()
    price = rows[columns.price].fill_null(float("nan")).to_numpy()
    return {
        "product": grid(product, -1),
        "price": grid(price, np.nan),
        "available": grid(rows[columns.available].to_numpy(), False),
        "attributes": grid(_stacked(known, rows.height), 0.0),
        "count": grid(count, 0.0),
        "products": products,
        "instruments": grid(
            _stacked([rows[name].to_numpy() for name in columns.instruments], rows.height), 0.0
        ),
        "marks": {name: Marks(grid(code, -1), labels) for name, (code, labels) in coded.items()},
    }


def _stacked(columns: Sequence[np.ndarray], rows: int) -> np.ndarray:
    return np.stack(columns, -1) if columns else np.zeros((rows, 0))
