"""Counts of a cell, of its cohort, of its unit, of all: the levels that histories are kept at."""

from typing import Literal, TypeAlias

import numpy as np
from jaxtyping import Float
from scipy.signal import lfilter

Level: TypeAlias = Literal["all", "cohort", "unit", "cell"]
"""Whose arrivals are counted together."""

Daily: TypeAlias = Float[np.ndarray, "day unit cohort pattern"]

LEAST_PROBABILITY = 1e-12
"""Nothing is held to be less likely when forecasts are compared."""

_SUMMED: dict[Level, tuple[int, ...]] = {
    "all": (-3, -2),
    "cohort": (-3,),
    "unit": (-2,),
    "cell": (),
}


def pooled(daily: Float[np.ndarray, "*days unit cohort last"], level: Level) -> np.ndarray:
    """Sums over what a level counts together; axes that were summed keep the length 1."""
    axes = _SUMMED[level]
    return np.asarray(daily.sum(axes, keepdims=True)) if axes else daily


def fading_sums(daily: np.ndarray, half_life: float) -> np.ndarray:
    r"""Sums through each day in which a count loses half its weight in `half_life` days.

    .. math:: S_t = 2^{-1/t_{1/2}} S_{t-1} + C_t
    """
    return np.asarray(lfilter([1.0], [1.0, -(2.0 ** (-1.0 / half_life))], daily, axis=0))
