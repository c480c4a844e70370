"""The price that earns most, product by product, among the prices that were seen."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.choice.markets import Markets
from dgd.errors import InputError
from dgd.tables.labels import Label

TRIED = 21
"""Prices between the lowest and the highest; then as many around the best of them."""
OWN, ALL = "revenue", "revenue of all"

Curve = Callable[[Label, Float[np.ndarray, " price"]], pl.DataFrame]
"""What a product's prices bring: the table of `ChoiceFit.demand_curve`."""


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
        for aim in (OWN, ALL):
            best, edge = _best(curve, product, seen, aim)
            now, then = curve(product, np.array([usual, best]))[aim]
            gain = 100 * (then / now - 1) if now > 0 else None
            rows.append((str(product), aim, usual, best, gain, edge))
    schema = {
        "product": pl.String,
        "aim": pl.String,
        "usual price": pl.Float64,
        "best price": pl.Float64,
        "gain percent": pl.Float64,
        "at the edge": pl.Boolean,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def offered(markets: Markets, product: Label) -> Float[np.ndarray, " offer"]:
    """The prices at which `product` could be bought."""
    if product not in markets.products:
        raise InputError(f"product {product!r} is not in the markets; correct the label.")
    own = markets.product == markets.products.index(product)
    seen = markets.price[own & markets.available]
    if not len(seen):
        raise InputError(f"product {product!r} is not available in any market; leave it out.")
    return np.asarray(seen)


def _best(
    curve: Curve, product: Label, seen: Float[np.ndarray, " offer"], aim: str
) -> tuple[float, bool]:
    """The best price within those seen, and whether it is the lowest or highest of them."""
    least, most = float(seen.min()), float(seen.max())
    low, high = least, most
    for _ in range(2):
        prices = np.linspace(low, high, TRIED)
        at = int(np.argmax(curve(product, prices)[aim]))
        low, high = prices[max(at - 1, 0)], prices[min(at + 1, TRIED - 1)]
    best = float(prices[at])
    return best, bool(np.isclose(best, least) or np.isclose(best, most))
