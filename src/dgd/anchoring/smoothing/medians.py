"""Medians of the last days of the same weekday: a holiday among them moves nothing."""

import numpy as np
from jaxtyping import Float

LOOK_BACK = (3, 5, 8)
"""How many of the last days of a weekday; without a rhythm, of twice as many days."""


class Medians:
    """The last days of every place in the cycle, the newest last."""

    def __init__(self, series: int, cycle: int) -> None:
        self._days = LOOK_BACK if cycle > 1 else tuple(2 * days for days in LOOK_BACK)
        self._last: list[list[np.ndarray]] = [[] for _ in range(cycle)]
        self._said = np.zeros((cycle, len(LOOK_BACK), series))
        self._today = np.zeros((len(LOOK_BACK), series))

    def see(self, today: Float[np.ndarray, " series"], place: int) -> None:
        last = self._last[place]
        last.append(today)
        del last[: -max(self._days)]
        self._said[place] = [np.median(last[-days:], 0) for days in self._days]
        self._today = np.broadcast_to(today, self._today.shape)

    def ahead(self, place: int | np.integer) -> Float[np.ndarray, "look_back series"]:
        """Of days of that place; where none was seen, the day before stands for it."""
        return self._said[place] if self._last[place] else self._today
