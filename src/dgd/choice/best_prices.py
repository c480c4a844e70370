"""The price that earns most, product by product, among the prices that were seen."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.choice.demand_curves import slots_of
from dgd.choice.markets import Markets
from dgd.choice.product_labels import label_column
from dgd.errors import InputError
from dgd.tables.labels import Label

TRIED = 15
"""Prices between the lowest and the highest; then as many around the best of them."""
OWN, ALL = "revenue", "revenue of all"

Curve = Callable[[Label, Float[np.ndarray, " price"]], pl.DataFrame]
"""What a product's prices bring: the table of `demand_curve_table`."""


def best_prices_table(
    curve: Curve, markets: Markets, products: Sequence[Label] | None = None
) -> pl.DataFrame:
    """One row per product and aim, the product's own revenue or that of all products."""
    asked = markets.products if products is None else products
    rows = []
    for product in asked:
        seen = offered(markets, product)
        usual = float(np.median(seen))
        if np.ptp(seen) == 0:
            continue
        coarse = np.linspace(seen.min(), seen.max(), TRIED)
        brought = curve(product, coarse)
        for aim in (OWN, ALL):
            best = _around(curve, product, coarse, int(np.argmax(brought[aim])), aim)
            now, then = curve(product, np.array([usual, best]))[aim]
            if then < now:  # the usual price lies between two that were tried
                best, then = usual, now
            gain = 100 * (then / now - 1) if now > 0 else None
            edge = bool(np.isclose(best, coarse[[0, -1]]).any())
            rows.append((markets.products.index(product), aim, usual, best, gain, edge))
    schema = {
        "product": pl.Int64,
        "aim": pl.String,
        "usual price": pl.Float64,
        "best price": pl.Float64,
        "gain percent": pl.Float64,
        "at the edge": pl.Boolean,
    }
    table = pl.DataFrame(rows, schema=schema, orient="row")
    places = table["product"].to_numpy()
    return table.with_columns(label_column("product", markets.products, places))


def offered(markets: Markets, product: Label) -> Float[np.ndarray, " offer"]:
    """The prices at which `product` could be bought."""
    seen = markets.price[slots_of(markets, product) & markets.available]
    if not len(seen):
        raise InputError(f"product {product!r} is not available in any market; leave it out.")
    return np.asarray(seen)


def _around(
    curve: Curve, product: Label, coarse: Float[np.ndarray, " price"], at: int, aim: str
) -> float:
    """The best price between the neighbours of the best coarse one."""
    fine = np.linspace(coarse[max(at - 1, 0)], coarse[min(at + 1, TRIED - 1)], TRIED)
    return float(fine[int(np.argmax(curve(product, fine)[aim]))])
