"""Markets of people who are all alike, sold as a logit has it: what is there is known."""

from typing import Any

import numpy as np
import polars as pl

from dgd.choice import ChoiceFit, ChoiceModel, Markets

SENSITIVITY = 3.0
PEOPLE = 100_000
OWNERS = {"a": "red", "b": "red", "c": "blue"}


def logit_table(sensitivity: float = SENSITIVITY, markets: int = 12) -> pl.DataFrame:
    """Three products in every market; counts are their expectation, to the next whole one."""
    rng = np.random.default_rng(7)
    price = rng.uniform(1.0, 3.0, (markets, 3))
    quality = rng.normal(size=(markets, 3))
    worth = np.exp(1.0 + 0.5 * quality - sensitivity * price)
    share = worth / (1.0 + worth.sum(1, keepdims=True))
    market, product = np.indices(price.shape)
    return pl.DataFrame(
        {
            "market": [f"m{at}" for at in market.ravel()],
            "product": ["abc"[at] for at in product.ravel()],
            "price": price.ravel(),
            "quality": quality.ravel(),
            "count": np.round(PEOPLE * share).ravel(),
            "maker": [OWNERS["abc"[at]] for at in product.ravel()],
        }
    )


def logit_markets(**options: Any) -> Markets:
    return Markets.from_table(
        logit_table(), attributes=["quality"], market_size=PEOPLE, firm="maker", **options
    )


def alike_fit() -> ChoiceFit:
    """The cheapest fit by likelihood: everyone alike, as asked."""
    return ChoiceModel(population="point").fit(logit_markets(), seeds=[1])
