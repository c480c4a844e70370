"""Fading means: of all days, and of each weekday by itself, as a weekday history has it."""

import numpy as np
from jaxtyping import Float

PLAIN_GAINS = (0.01, 0.03, 0.06, 0.1, 0.2, 0.35, 0.5, 0.8, 1.0)
WEEKDAY_GAINS = (0.1, 0.2, 0.35, 0.6, 1.0)
UNSEEN = 1e-9


class FadingMeans:
    """A mean for every gain, of all days alike or, with a cycle, of each place in it."""

    def __init__(self, gains: tuple[float, ...], series: int, cycle: int = 1) -> None:
        self._keep = 1 - np.array(gains)[:, None]
        self._sum = np.zeros((cycle, len(gains), series))
        self._days = np.zeros((cycle, len(gains), 1))

    def see(self, today: Float[np.ndarray, " series"], place: int) -> None:
        here = place % len(self._sum)
        self._sum[here] = self._keep * self._sum[here] + today
        self._days[here] = self._keep * self._days[here] + 1

    def ahead(self, place: int | np.integer) -> Float[np.ndarray, "gain series"]:
        """The mean of days of that place; of all days where none of it was seen."""
        here = place % len(self._sum)
        if not self._days[here].any():
            return np.asarray(self._sum.sum(0) / np.maximum(self._days.sum(0), UNSEEN))
        return np.asarray(self._sum[here] / self._days[here])
