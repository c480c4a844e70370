"""Markets drawn from a logit whose effects are known, with utilities that nobody records."""

from typing import Any

import numpy as np
import polars as pl

from dgd.choice import Markets

TASTES = (0.5, 0.8)
SENSITIVITY = 1.5


def drawn_table(
    seed: int = 0,
    markets: int = 40,
    products: int = 4,
    size: int = 5000,
    constant: float = 0.0,
    scatter: float = 0.0,
) -> pl.DataFrame:
    """One row per market and product; `scatter` is the spread of utilities that nobody records."""
    rng = np.random.default_rng(seed)
    shape = (markets, products)
    quality, price = rng.normal(size=shape), rng.uniform(0.5, 3.0, size=shape)
    unseen = scatter * rng.normal(size=shape)
    utility = constant + TASTES[0] + TASTES[1] * quality - SENSITIVITY * price + unseen
    weight = np.exp(utility)
    share = weight / (1 + weight.sum(1, keepdims=True))
    counts = rng.multinomial(size, np.c_[share, 1 - share.sum(1)])[:, :-1]
    return pl.DataFrame(
        {
            "market": np.repeat(np.arange(markets), products),
            "product": np.tile([f"p{j}" for j in range(products)], markets),
            "price": price.ravel(),
            "quality": quality.ravel(),
            "count": counts.ravel(),
        }
    )


def drawn_markets(seed: int = 0, size: int = 5000, **drawn: Any) -> Markets:
    table = drawn_table(seed, size=size, **drawn)
    return Markets.from_table(table, attributes=["quality"], market_size=size)
