"""Prices from which no firm gains by moving, given costs and whoever stays put.

Every market is solved for itself: its prices do not depend on which others are asked with it.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.firms.markup_equation import slopes, zeta
from dgd.choice.firms.ownership import ownership, refuse_sole_sellers
from dgd.choice.markets import Markets
from dgd.choice.marks import Marks
from dgd.choice.offers import Offers
from dgd.errors import InputError, few
from dgd.runtime import computing

STEPS = 5000
TOLERANCE = 1e-12
"""How far a price may be from what its first-order condition asks for, relative to both."""


class Solved(NamedTuple):
    """Prices, and how well they meet the first-order conditions."""

    price: Float[Array, "market slot"]
    gap: Float[Array, " market"]
    """The largest |p - c - zeta| / (|p| + |zeta|) of the prices that move."""
    steps: Int[Array, ""]


def equilibrium_prices(
    parameters: tuple[ChoiceDemand, ...],
    markets: Markets,
    offers: Offers,
    owners: Marks,
    cost: Float[np.ndarray, "market slot"],
    moving: Bool[np.ndarray, "market slot"],
    steps: int = STEPS,
) -> Float[np.ndarray, "market slot"]:
    """The prices of `markets` once those that are `moving` are best for their owners.

    Args:
        parameters: one demand per seed; firms face the average.
        markets: where prices are set; steps begin at their prices.
        offers: the same as the parameters see them.
        owners: who sets which price.
        cost: needed of every product on offer that moves or whose owner moves another.
        moving: which prices may move; all others stay.
        steps: after how many a market is given up.
    """
    moving = moving & markets.available
    refuse_sole_sellers(markets, owners, np.asarray(moving.any(1)))
    with computing():
        solved = solve(
            parameters,
            offers,
            jnp.asarray(ownership(owners, markets.available)),
            jnp.asarray(np.where(markets.available, cost, 0.0)),
            jnp.asarray(moving),
            jnp.asarray(steps),
        )
        price, gap = np.asarray(solved.price), np.asarray(solved.gap)
    _refuse_unsolved(markets, gap, steps)
    return np.where(moving, price, markets.price)


@eqx.filter_jit
def solve(
    parameters: tuple[ChoiceDemand, ...],
    offers: Offers,
    joint: Float[Array, "market slot slot"],
    cost: Float[Array, "market slot"],
    moving: Bool[Array, "market slot"],
    most: Int[Array, ""],
) -> Solved:
    """Steps p <- c + zeta(p), each market until its conditions hold or stop being numbers.

    No product is sold below cost where they hold, so no step begins there.
    """

    def step(state: Solved) -> Solved:
        markup = state.price - cost
        wanted = zeta(slopes(parameters, offers._replace(price=state.price)), markup, joint)
        scale = jnp.abs(state.price) + jnp.abs(wanted)
        far = jnp.abs(markup - wanted) / jnp.where(scale > 0, scale, 1.0)
        gap = jnp.where(moving, far, 0.0).max(1)
        moves = moving & jnp.broadcast_to(_open(gap)[:, None], moving.shape)
        return Solved(jnp.where(moves, cost + wanted, state.price), gap, state.steps + 1)

    def unsolved(state: Solved) -> Bool[Array, ""]:
        return _open(state.gap).any() & (state.steps < most)

    first = jnp.where(moving, jnp.maximum(offers.price, cost), offers.price)
    start = Solved(first, jnp.ones(len(cost)), jnp.zeros((), int))
    return jax.lax.while_loop(unsolved, step, start)


def _open(gap: Float[Array, " market"]) -> Bool[Array, " market"]:
    """Where steps still lead somewhere; from what is no number none does."""
    return gap > TOLERANCE


def _refuse_unsolved(markets: Markets, gap: Float[np.ndarray, " market"], steps: int) -> None:
    open_yet = np.flatnonzero(~(gap <= TOLERANCE))
    if len(open_yet):
        labels = [markets.markets[at] for at in open_yet]
        raise InputError(
            f"no prices were found that are best for every firm in market {few(labels)}, where "
            f"after {steps} steps they miss the first-order conditions by {gap[open_yet].max():.2g}"
            " of the price; correct the costs, or leave these markets out with markets.select."
        )
