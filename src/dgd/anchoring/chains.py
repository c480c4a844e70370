r"""Chains of histories: a cell is like its cohort and unit until it has shown otherwise.

The joint patterns of all arrivals are the start. A cohort's own fading counts S are
added to it, a unit's too, and the two meet as factors; a cell's own counts come last:

.. math::
    q_{all} = \frac{S + \frac12 / 2^H}{\Sigma S + \frac12}, \quad
    q_g = \frac{S_g + \tau_g q_{all}}{\Sigma S_g + \tau_g}, \quad
    q_u = \frac{S_u + \tau_u q_{all}}{\Sigma S_u + \tau_u}, \quad
    q_{ug} = \frac{S_{ug} + \tau\, \bar q}{\Sigma S_{ug} + \tau}, \quad
    \bar q \propto q_g \, (q_u / q_{all})^a

Every level fades at a half-life of its own. A strength tau counts arrivals: that many of
a cell's own weigh as much as what its neighbours say. With an infinite strength above the cell
and a uniform start the chain is the slow history of the baselines.

Which half-lives and strengths suit a table is not known before; `CHAINS` spreads candidates
evenly over what is plausible, and their scores at past origins weigh them.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.stats.qmc import Sobol

from dgd.anchoring.levels import Daily, Level, fading_sums, pooled

FIRST_COUNT = 0.5
"""Arrivals that the uniform start is worth."""
FOREVER = 1000.0
"""A half-life so long that nothing fades within a panel of months."""


class Chain(NamedTuple):
    """Half-lives in days and strengths in arrivals of one candidate."""

    all_half_life: float
    cohort_half_life: float
    unit_half_life: float
    cell_half_life: float
    cohort_strength: float
    unit_strength: float
    cell_strength: float
    unit_share: float
    """a: 0 leaves the unit's own counts out, 1 lets them enter in full."""


_HALF_LIVES = (7.0, 14.0, 28.0, 56.0, 112.0, FOREVER)
_STRENGTHS = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
_PLAUSIBLE: tuple[tuple[float, ...], ...] = (
    (28.0, 112.0, FOREVER),
    (4.0, *_HALF_LIVES),
    (4.0, *_HALF_LIVES),
    _HALF_LIVES,
    (*_STRENGTHS, 3000.0),
    _STRENGTHS,
    (*_STRENGTHS, 3000.0),
    (0.0, 0.5, 1.0),
)
"""Values of every field of a chain."""


def spread_evenly(count: int) -> tuple[Chain, ...]:
    """`count` candidates, a power of two, spread over all plausible values by a Sobol sequence:
    no chance is in it, and every value of every field comes about equally often."""
    points = Sobol(len(_PLAUSIBLE), scramble=False).random(count)
    return tuple(
        Chain(*(of[int(at * len(of))] for of, at in zip(_PLAUSIBLE, point, strict=True)))
        for point in points
    )


CHAINS = spread_evenly(128)

Sums: TypeAlias = Callable[[Level, float], np.ndarray]
"""Fading sums of a level at a half-life, through every day."""


def remembered_sums(daily: Daily, everyone: np.ndarray | None = None) -> Sums:
    """Fading sums that are worked out once each; `everyone` is one unit that counted what all
    units did, where these are some of them."""
    found: dict[tuple[Level, float], np.ndarray] = {}

    def sums(level: Level, half_life: float) -> np.ndarray:
        if (level, half_life) not in found:
            counts = daily if everyone is None or level in ("unit", "cell") else everyone
            found[level, half_life] = fading_sums(pooled(counts, level), half_life)
        return found[level, half_life]

    return sums


def chained(sums: Sums, chain: Chain, several: bool | None = None) -> Daily:
    """What a chain says after every day; the sums of the panel's cells set its shape.

    `several` says whether there are other units than those at hand, where that does not show.
    """
    whole, parent = _shared(sums, chain)
    units = sums("unit", chain.unit_half_life)
    if (units.shape[-3] > 1 if several is None else several) and chain.unit_share > 0:
        unit = _joined(units, whole, chain.unit_strength)
        parent = normalized(parent * (unit / whole) ** chain.unit_share)
    return _joined(sums("cell", chain.cell_half_life), parent, chain.cell_strength)


def chained_cohorts(sums: Sums, chain: Chain) -> np.ndarray:
    """What a chain says of each cohort after every day, all units together."""
    return _shared(sums, chain)[1]


def _shared(sums: Sums, chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    """What it says of all, and of each cohort."""
    every = sums("all", chain.all_half_life)
    total = every.sum(-1, keepdims=True)
    whole = (every + FIRST_COUNT / every.shape[-1]) / (total + FIRST_COUNT)
    return whole, _joined(sums("cohort", chain.cohort_half_life), whole, chain.cohort_strength)


def _joined(own: np.ndarray, parent: np.ndarray, strength: float) -> np.ndarray:
    return np.asarray((own + strength * parent) / (own.sum(-1, keepdims=True) + strength))


def normalized(weights: np.ndarray) -> np.ndarray:
    return np.asarray(weights / weights.sum(-1, keepdims=True))
