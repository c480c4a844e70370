r"""How much the counts tell: less where shares scatter more than chance alone would have them.

.. math:: \phi = \frac{1}{n - p} \sum_{mb} \frac{(C_{mb} - N_m s_{mb})^2}{N_m s_{mb}}, \qquad
    I = \frac{1}{\phi} \sum_m N_m \Big(1 - \sum_b s_{mb}^2\Big)

A likelihood divided by phi I has the same size whatever the level of shares is and whatever a
market is said to hold, and so have its tolerances, its prior and its errors.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from dgd.choice.markets import Markets

SPARSE = 2.0
"""Where fewer were expected in the mean cell, their scatter tells nothing about dispersion."""


class Information(NamedTuple):
    """How counts scatter, and what they tell."""

    dispersion: float
    amount: float


def information(
    markets: Markets, shares: Float[np.ndarray, "market slot"], parameters: int
) -> Information:
    """Of `markets`, of which a model with so many `parameters` expects `shares`."""
    counts, expected = markets.count[markets.available], (markets.size[:, None] * shares)
    expected = expected[markets.available]
    if markets.has_outside:
        counts = np.r_[counts, markets.outside]
        expected = np.r_[expected, markets.size * np.maximum(1.0 - shares.sum(1), 0.0)]
    expected = np.maximum(expected, np.finfo(float).tiny)
    free = len(counts) - len(markets.markets) - parameters
    scatter = float(((counts - expected) ** 2 / expected).sum()) / max(free, 1)
    repeated = markets.columns.household is not None
    dispersion = scatter
    if markets.whole:
        dispersion = 1.0 if repeated or expected.mean() < SPARSE else max(1.0, scatter)
    dispersion = max(dispersion, np.finfo(float).tiny)
    # Expected shares, not counted ones: a single choice has all of its market and still tells much.
    nothing = np.maximum(1.0 - shares.sum(1), 0.0) if markets.has_outside else 0.0
    alone = (shares**2).sum(1) + nothing**2
    return Information(dispersion, float((markets.size * (1.0 - alone)).sum()) / dispersion)
