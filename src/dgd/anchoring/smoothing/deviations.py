r"""Fading deviations: arrivals that ran above a slow expectation go on doing so for a while.

A slow base expects b of a day. By how much the days were above or below it is followed and fades,

.. math:: \delta_t = \phi \delta_{t-1} + g\, (e_t - \phi \delta_{t-1}), \qquad
    e_t = \log\frac{N_t + c}{b_t + c}, \qquad \hat N_{t+s} = b_{t+s} \exp(\phi^s \delta_t)

so that a busy week raises the next day, hardly the one a week ahead. The constant c, a half and a
twentieth of the series' own mean, keeps single arrivals from weighing much.
"""

from itertools import product

import numpy as np
from jaxtyping import Float

RETENTIONS = (0.3, 0.6, 0.85)
"""phi."""
GAINS = (0.3, 0.7)
"""g."""
DEVIATING = tuple(product(RETENTIONS, GAINS))
"""Every kind of deviation, tried on every base."""
SETTLED = 14
"""Days after which a base is worth deviating from."""
MOST_LOG = 1.0
"""A day counts as e times more or less than expected at the most."""


class Deviations:
    """How far every base was off, by every kind of deviation."""

    def __init__(self, bases: int, series: int) -> None:
        self._retention, self._gain = np.array(DEVIATING).T[:, :, None]
        self._off = np.zeros((bases, len(DEVIATING), series))
        self._sum = np.zeros(series)
        self._days = 0

    def see(
        self, today: Float[np.ndarray, " series"], expected: Float[np.ndarray, "base series"]
    ) -> None:
        """Note how the day came out beside what the bases had expected of it."""
        self._sum += today
        self._days += 1
        if self._days <= SETTLED:
            return
        constant = 0.5 + 0.05 * self._sum / self._days
        off = np.log((today + constant) / (expected + constant)).clip(-MOST_LOG, MOST_LOG)
        faded = self._retention * self._off
        self._off = faded + self._gain * (off[:, None] - faded)

    def ahead(
        self, bases: Float[np.ndarray, "base series"], step: int
    ) -> Float[np.ndarray, "deviating series"]:
        """What the bases expect `step` days ahead, moved by what is left of the deviations."""
        moved = bases[:, None] * np.exp(self._retention**step * self._off)
        return np.asarray(moved.reshape(-1, bases.shape[-1]))
