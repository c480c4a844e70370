"""Prices that nobody has seen: what is said about them is extrapolated."""

import warnings

import numpy as np

from dgd.choice.markets import Markets

FAR = 0.5
"""A price is far outside the training range when it lies beyond by so many of its widths."""


def warn_of_far_prices(seen: tuple[float, float], markets: Markets) -> None:
    """Warn where a price of `markets` lies far outside those `seen`."""
    low, high = seen
    reach = FAR * (high - low)
    price = np.where(markets.available, markets.price, low)
    far = np.argwhere((price < low - reach) | (price > high + reach))
    if not len(far):
        return
    market, slot = far[0]
    more = f" and {len(far) - 1} more" if len(far) > 1 else ""
    warnings.warn(
        f"price {price[market, slot]:g} of product "
        f"{markets.products[markets.product[market, slot]]} in market "
        f"{markets.markets[market]}{more} lies far outside the prices trained on, {low:g} to "
        f"{high:g}; what is said about it is extrapolated.",
        UserWarning,
        stacklevel=4,
    )
