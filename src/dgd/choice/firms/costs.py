r"""Marginal costs: what makes the prices that are asked the best ones for those who ask them.

.. math:: c = p - \eta, \qquad \eta = -\Big(O \odot \frac{\partial s}{\partial p}^T\Big)^{-1} s

market by market, over the products on offer, where O says which prices one firm sets.
"""

import warnings

import numpy as np
from jaxtyping import Bool, Float

from dgd.choice.demand import Demand
from dgd.choice.firms.ownership import ownership, refuse_sole_sellers
from dgd.choice.markets import Markets
from dgd.choice.marks import Marks
from dgd.errors import InputError


def implied_costs(demand: Demand, owners: Marks) -> Float[np.ndarray, "market slot"]:
    """c: the costs at which no firm gains by other prices; NaN where a product is not on offer."""
    refuse_sole_sellers(demand.markets, owners)
    return np.asarray(demand.markets.price - markups(demand, owners))


def markups(demand: Demand, owners: Marks) -> Float[np.ndarray, "market slot"]:
    """eta: price less cost in money; NaN where a product is not on offer."""
    markets, share = demand.markets, np.asarray(demand.shares.products)
    available = markets.available
    _refuse_unsold(markets, share)
    joint = ownership(owners, available)
    moved = joint * np.swapaxes(demand.price_derivatives.products, 1, 2)
    # Every condition is divided by its share, so that rare products are solved for as exactly as
    # common ones; slots that are not on offer have the condition "markup = 0".
    relative = moved / np.where(available, share, 1.0)[..., None]
    relative = relative - np.eye(share.shape[1]) * ~available[..., None]
    eta = np.linalg.solve(relative, -available[..., None].astype(float))[..., 0]
    return np.where(available, eta, np.nan)


def lerner(
    price: Float[np.ndarray, " offer"], cost: Float[np.ndarray, " offer"]
) -> Float[np.ndarray, " offer"]:
    """(p - c) / p: the part of the price that is no cost; NaN where the price is 0."""
    free = price == 0
    return np.where(free, np.nan, (price - cost) / np.where(free, 1.0, price))


def warn_of_negative(
    markets: Markets,
    cost: Float[np.ndarray, "market slot"],
    implied: Bool[np.ndarray, "market slot"],
    stacklevel: int,
) -> None:
    """Warn of `implied` costs below zero, which no firm has."""
    below = np.argwhere(implied & (np.nan_to_num(cost) < 0))
    if not len(below):
        return
    market, slot = below[0]
    more = f" (and {len(below) - 1} more)" if len(below) > 1 else ""
    warnings.warn(
        f"the implied cost of product {markets.products[markets.product[market, slot]]} in market "
        f"{markets.markets[market]} is {cost[market, slot]:.4g}{more}: its demand is less elastic "
        "than a firm that sets the best price would leave it; check the price sensitivity, or "
        "give the costs you know.",
        UserWarning,
        stacklevel=stacklevel + 1,
    )


def _refuse_unsold(markets: Markets, share: Float[np.ndarray, "market slot"]) -> None:
    """Refuse a product that nobody buys: any price is as good as any other for it."""
    unsold = np.argwhere(markets.available & ~(share > np.finfo(float).tiny))
    if len(unsold):
        market, slot = unsold[0]
        raise InputError(
            f"product {markets.products[markets.product[market, slot]]} in market "
            f"{markets.markets[market]} has a share of 0 at price "
            f"{markets.price[market, slot]:g}, which tells nothing about its cost; leave it out "
            "with markets.without_products, or correct the price."
        )
