"""Which periods are alike: the weekdays of days, the hours of the week of hours."""

import numpy as np
from jaxtyping import Int

from dgd.tables.periods import Period

ROUNDS_TO_TELL_APART = 2
"""Means of their own for weekdays or hours need each of them so often."""
FEWEST_WEEKS = 3
"""Means of seven weekdays take a third of the days of so many weeks; of fewer, too little is
left to judge by. Tables by weeks need as many periods as these have days."""


def season_of(dates: np.ndarray, period: Period) -> Int[np.ndarray, " period"]:
    """The number of every period's season, from 0 on; one season where there are too few rounds."""
    hours = dates.astype("datetime64[h]").astype(np.int64)
    of_day = hours % 24
    of_week = (hours - of_day) // 24 % 7 * 24 + of_day
    seasons = {"hour": (of_week, of_day), "day": (of_week // 24,), "week": ()}[period.name]
    length = {"hour": (168, 24), "day": (7,), "week": ()}[period.name]
    for season, round_of in zip(seasons, length, strict=True):
        if len(dates) >= ROUNDS_TO_TELL_APART * round_of:
            return np.unique(season, return_inverse=True)[1]
    return np.zeros(len(dates), np.int64)


def fewest_periods(period: Period) -> int:
    """Fewer periods than this tell nothing."""
    return 7 * FEWEST_WEEKS * (24 if period.name == "hour" else 1)
