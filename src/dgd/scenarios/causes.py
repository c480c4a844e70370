r"""Why a change makes a difference: four causes that add up exactly.

With N(i, d) the expected arrivals of a cell under the inputs i and the carried states d (0 as
planned, 1 changed) and r(i, d) its behaviour rates, a day's total is

.. math:: v(a, b, c, d) = \Big[\sum_j N_j(a, d)\Big] \sum_j
    \frac{N_j(b, d)}{\sum_k N_k(b, d)}\, r_j(c, d)

where a says how many are contacted, b who of them arrive, c how the same people answer, and d
what they carry from the days before. The cells of every seed are cells of their own, each with its
part of the arrivals. A difference is split by Shapley's values: the mean, over
all orders in which the four are changed, of what each adds. They sum to v(1,1,1,1) - v(0,0,0,0).
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import factorial
from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from dgd.model.days import Prediction

CAUSES = (
    "more or fewer contacts",
    "other people arriving",
    "the same people answering differently",
    "fatigue and memory",
)

Crossed: TypeAlias = Mapping[tuple[int, int], Sequence[Prediction]]
"""Every seed's predictions by inputs and states, each as planned (0) or changed (1)."""


def split_of(crossed: Crossed) -> Float[np.ndarray, "date cause series"]:
    """What each cause adds to arrivals and to every behaviour, all cells together."""
    arrivals = {at: _arrivals(seeds) for at, seeds in crossed.items()}
    rates = {at: _rates(seeds) for at, seeds in crossed.items()}
    totals = {at: cells.sum((1, 2)) for at, cells in arrivals.items()}
    mix = {(b, d): _mix(arrivals[b, d], arrivals[1 - b, d]) for b, d in arrivals}
    values: dict[tuple[int, ...], np.ndarray] = {
        (a, b, c, d): totals[a, d][:, None] * (mix[b, d][..., None] * rates[c, d]).sum((1, 2))
        for a, b, c, d in product((0, 1), repeat=4)
    }
    return shapley(values)


def shapley(
    values: Mapping[tuple[int, ...], Float[np.ndarray, "date series"]],
) -> Float[np.ndarray, "date cause series"]:
    """The mean of what each player adds, over all orders in which players join."""
    players = len(next(iter(values)))
    found = []
    for player in range(players):
        total = np.zeros_like(values[(0,) * players])
        for others in product((0, 1), repeat=players - 1):
            joined = sum(others)
            orders = factorial(joined) * factorial(players - 1 - joined)
            without = (*others[:player], 0, *others[player:])
            together = (*others[:player], 1, *others[player:])
            total += orders * (values[together] - values[without])
        found.append(total / factorial(players))
    return np.stack(found, 1)


def _arrivals(seeds: Sequence[Prediction]) -> Float[np.ndarray, "date seed_and_unit cohort"]:
    """Arrivals of every seed's cells; together they are the mean over seeds."""
    return np.concatenate([np.asarray(one.arrivals) for one in seeds], 1) / len(seeds)


def _rates(seeds: Sequence[Prediction]) -> Float[np.ndarray, "date seed_and_unit cohort series"]:
    rates = np.concatenate([np.asarray(one.rates) for one in seeds], 1)
    return np.concatenate([np.ones((*rates.shape[:-1], 1)), rates], -1)


def _mix(
    arrivals: Float[np.ndarray, "date unit cohort"], other: Float[np.ndarray, "date unit cohort"]
) -> Float[np.ndarray, "date unit cohort"]:
    """Each cell's share of a day's arrivals; of the other inputs' where nobody arrives."""
    shares = arrivals
    for cells in (other, np.ones_like(arrivals)):
        shares = np.where(shares.sum((1, 2), keepdims=True) > 0, shares, cells)
    return np.asarray(shares / shares.sum((1, 2), keepdims=True))
