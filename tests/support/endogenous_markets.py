"""Markets whose prices follow what sellers see of quality and the table does not.

A seller asks more for what is better in ways no column holds, so that dear products sell well and
whoever compares prices with sales alone finds buyers who hardly mind prices. The column "cost"
moves prices and nothing else: with it the truth can be found.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float
from numpy.polynomial.hermite_e import hermegauss

from dgd.choice import Markets

ATTRIBUTES = ["comfort", "style"]
INSTRUMENTS = ["cost"]
TASTES = np.array([2.4, 0.6, -0.4])
"""Of the constant, comfort and style; the outside option is then bought by about half."""
PRICE, COST_PART, REST_PART = 2.0, 0.3, 0.3
"""The mean price, and the spread of what costs and what everything else add to it."""
QUALITY_SPREAD = 0.6
NODES = 15


@dataclass(frozen=True, eq=False)
class EndogenousTruth:
    """What the markets were made from."""

    price_coefficient: float
    """alpha > 0: what one unit of money takes from utility."""
    tastes: Float[np.ndarray, " attribute"]
    """Of the constant and the attributes, in the table's own units."""
    spread: float
    """The standard deviation of the taste for comfort."""
    quality: Float[np.ndarray, "market slot"]
    """xi; 0 where a slot holds no product."""
    shares: Float[np.ndarray, "market slot"]
    outside: Float[np.ndarray, " market"]
    own_elasticity: float
    """The mean over all offers of the own-price elasticity."""


def endogenous_markets(
    seed: int,
    markets: int,
    correlation: float,
    *,
    price_coefficient: float = 2.2,
    spread: float = 0.0,
    opportunities: int | None = 10_000,
    extra_costs: int = 0,
    **options: Any,
) -> tuple[Markets, EndogenousTruth]:
    """Markets of four to six products, and the truth; the same seed draws the same markets.

    Args:
        seed: of everything drawn.
        markets: how many.
        correlation: between xi and what neither cost nor attributes explain of price.
        price_coefficient: alpha; the default gives a mean own elasticity of about -4.
        spread: the standard deviation of the taste for comfort; 0 is a plain logit.
        opportunities: the size of every market, to which counts are rounded (to 1 at the
            least); with None the table holds exact shares.
        extra_costs: more columns "cost 2", "cost 3", ... that price follows.
        options: of `Markets.from_table`, such as absorb=["product"].
    """
    rng = np.random.default_rng(seed)
    shape = (markets, 6)
    listed = np.arange(shape[1])[None] < rng.integers(4, 7, size=markets)[:, None]
    known = rng.normal(size=(*shape, 2))
    costs = rng.normal(size=(*shape, 1 + extra_costs))
    xi = rng.normal(size=shape)
    noise = rng.normal(size=shape)
    rest = correlation * xi + np.sqrt(1.0 - correlation**2) * noise
    moved = COST_PART * costs.sum(-1) / np.sqrt(costs.shape[-1])
    price = np.maximum(PRICE + moved + 0.1 * known[..., 0] + REST_PART * rest, 0.2)
    xi = np.where(listed, QUALITY_SPREAD * xi, 0.0)
    alike = TASTES[0] + known @ TASTES[1:] - price_coefficient * price + xi
    products, own = _demand(alike, spread * known[..., 0], listed, price_coefficient)
    outside = 1.0 - products.sum(1)
    elasticity = np.where(listed, own * price, 0.0).sum() / listed.sum()

    market, slot = np.nonzero(listed)
    sold: dict[str, Any] = {"part": products[listed]}
    counting: dict[str, Any] = {"count": None, "share": "part"}
    if opportunities is not None:
        sold = {"count": np.maximum(np.rint(opportunities * products[listed]), 1.0).astype(int)}
        counting = {"market_size": opportunities}
    table = pl.DataFrame(
        {
            "market": [f"m{index}" for index in market],
            "product": [f"p{index}" for index in slot],
            "firm": [f"f{index // 2}" for index in slot],
            "price": price[listed],
            **{name: known[listed][:, a] for a, name in enumerate(ATTRIBUTES)},
            **{
                "cost" if z == 0 else f"cost {z + 1}": costs[listed][:, z]
                for z in range(costs.shape[-1])
            },
            **sold,
        }
    )
    given = {
        "attributes": ATTRIBUTES,
        "instruments": [name for name in table.columns if name.startswith("cost")],
        "firm": "firm",
        **counting,
        **options,
    }
    width = int(listed.sum(1).max())
    return Markets.from_table(table, **given), EndogenousTruth(
        price_coefficient,
        TASTES,
        spread,
        xi[:, :width],
        products[:, :width],
        outside,
        float(elasticity),
    )


def _demand(
    alike: np.ndarray, moved: np.ndarray, listed: np.ndarray, price_coefficient: float
) -> tuple[np.ndarray, np.ndarray]:
    """Shares, and what price takes from each relative to itself: -alpha E[p (1 - p)] / s."""
    points, weights = hermegauss(NODES)
    weights = weights / weights.sum()
    utility = alike[..., None] + moved[..., None] * points
    odds = np.where(listed[..., None], np.exp(utility), 0.0)
    chance = odds / (1.0 + odds.sum(1, keepdims=True))
    shares = chance @ weights
    slope = (chance * (1.0 - chance)) @ weights
    return shares, -price_coefficient * slope / np.where(listed, shares, 1.0)
