"""How many days, and how many arrivals a day, it takes to see a movement.

A movement of standard deviation s times the rate raises the day-to-day variance
to 1 + s^2 k times what chance gives, where k, the sharpness, is the squared daily
count over its chance variance. If it keeps PERSISTENCE of itself from day to day,
departures correlate by PERSISTENCE (1 - 1 / ratio).
"""

import math

import numpy as np
from scipy.special import chdtri, ndtri

from dgd.panel.exploration.chance import Departures
from dgd.panel.exploration.movement import BAND, Movement

LEVEL = 0.01
"""Chance alone is called a movement no more often than this."""
LOOKS = 2
"""All cells together, and cell by cell."""
POWER = 0.9
"""How surely a movement would be seen around known means. Weekday means taken from the same days
swallow a part of a drift, and four times in five are left."""
PERSISTENCE = 0.8
WORTH_SEEING = 0.1
"""The movement looked for, as a part of the rate; or one as large as chance, if that is more."""
WIDEST_NOISE = 0.5
"""Arrivals are too few where chance alone moves a day's rate by more than this part of it."""
_FREEDOMS = np.unique(np.geomspace(1, 10_000, 500).astype(np.int64))


def sharpness_of(departures: Departures, ceiling: np.ndarray | None = None) -> float:
    """k of all cells together.

    Args:
        departures: Of the series.
        ceiling: The arrivals, for a behaviour: what more than half of them show is measured by
            those who do not show it.
    """
    daily = departures.expected.sum(1)
    if ceiling is not None:
        rest = ceiling.sum(1) - daily
        daily = rest if rest.sum() < daily.sum() else daily
    noise = float(departures.noise.sum())
    return float((daily**2).sum()) / noise if noise > 0 else 0.0


def periods_to_see(sharpness: float, seasons: int) -> float:
    """Periods that show a lasting movement worth seeing, both its size and its memory."""
    ratio = max(2.0, 1.0 + WORTH_SEEING**2 * sharpness)
    limit = chdtri(_FREEDOMS, LEVEL / LOOKS) / _FREEDOMS
    # What lasts is drawn anew less often: its squares vary as those of fewer days do.
    lasting = (1.0 + PERSISTENCE**2) / (1.0 - PERSISTENCE**2)
    drawn = _FREEDOMS * ratio**2 / (1.0 + 2.0 * (ratio - 1.0) + lasting * (ratio - 1.0) ** 2)
    enough = ratio * chdtri(drawn, POWER) / drawn >= limit
    to_size = int(_FREEDOMS[np.argmax(enough)]) + seasons
    to_memory = ((BAND + ndtri(POWER)) / _correlation(ratio)) ** 2 + seasons
    return float(max(to_size, to_memory))


def periods_to_remember(movement: Movement) -> float:
    """Periods after which the memory of a movement of the size seen would leave its band."""
    if not movement.variance_ratio > 1:
        return math.inf
    widest = _correlation(movement.variance_ratio) / (1.0 + ndtri(POWER) / BAND)
    return float(movement.periods * (movement.chance_band / widest) ** 2)


def seen_movement(movement: Movement, sharpness: float) -> float:
    """The standard deviation of what is not chance, as a part of the rate."""
    if not sharpness > 0:
        return math.nan
    return math.sqrt(max(0.0, movement.variance_ratio - 1.0) / sharpness)


def smallest_movement(movement: Movement, sharpness: float) -> float:
    """The smallest movement that the periods at hand would have shown, as a part of the rate."""
    if not sharpness > 0 or not movement.freedom > 0:
        return math.nan
    ratio = chdtri(movement.freedom, LEVEL / LOOKS) / chdtri(movement.freedom, POWER)
    return math.sqrt((ratio - 1.0) / sharpness)


def _correlation(ratio: float) -> float:
    return PERSISTENCE * (1.0 - 1.0 / ratio)
