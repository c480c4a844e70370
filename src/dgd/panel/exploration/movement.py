"""Does a series move more than chance, and does it remember?

Two questions to the same departures: all cells together, where a movement they
share stands out, and cell by cell, where movements that cancel in the sum do.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import chdtrc

from dgd.panel.exploration.chance import Departures

BAND = 2.0
"""Standard errors to either side within which chance keeps an autocorrelation."""
SHARPEST = 0.1
"""The variance of squared departures is taken for no smaller a part of its Gaussian value."""


@dataclass(frozen=True)
class Movement:
    """Day-to-day variance over what chance alone gives, and its memory; NaN where unknown."""

    periods: int
    """How many could depart from their mean at all."""
    variance_ratio: float
    """Squared departures over their expectation by chance alone; 1 is chance."""
    p_value: float
    """How often chance alone gives as large a ratio."""
    freedom: float
    """Degrees of freedom of the ratio as a chi-square over its freedom."""
    autocorrelation: float
    """Of standardised departures with those of the period before."""
    chance_band: float
    """How far from 0 it strays where the period before tells nothing: for all cells together
    2 / sqrt(days less weekdays); cell by cell it is narrower by as much as cells vary apart."""


def together(departures: Departures) -> Movement:
    """The movement of all cells' sum."""
    shared, all_pull = 0.0, departures.pull
    for season in range(departures.season.max() + 1):
        pull = all_pull[departures.season == season]
        common = pull @ pull.T
        shared += float((common**2).sum() - (np.diagonal(common) ** 2).sum())
    value = departures.value.sum(1, keepdims=True)
    variance = departures.variance.sum(1, keepdims=True)
    return _movement(departures, value, variance, shared)


def cell_by_cell(departures: Departures) -> Movement:
    """The movements of every cell by itself."""
    shared, all_pull = 0.0, departures.pull
    for season in range(departures.season.max() + 1):
        squared = all_pull[departures.season == season] ** 2
        shared += float((squared.sum(0) ** 2 - (squared**2).sum(0)).sum())
    return _movement(departures, departures.value, departures.variance, shared)


def _movement(
    departures: Departures,
    value: Float[np.ndarray, "period group"],
    variance: Float[np.ndarray, "period group"],
    shared: float,
) -> Movement:
    """The ratio Q / E[Q] of Q = sum of squares, as chi-square with the mean and variance that
    chance gives it: Var[Q] = 2 (sum of squared covariances) + what fourth moments add."""
    moving = variance.sum(1) > 0
    value, variance = value[moving], variance[moving]
    expected = float(variance.sum())
    if len(value) < 2 or expected == 0:
        return Movement(len(value), np.nan, np.nan, np.nan, np.nan, np.nan)
    gaussian = 2.0 * (float((variance**2).sum()) + shared)
    spread = max(gaussian + float(departures.fourth.sum()), SHARPEST * gaussian)
    freedom = 2.0 * expected**2 / spread
    ratio = float((value**2).sum()) / expected
    p_value = float(chdtrc(freedom, ratio * freedom))
    seasons = len(np.unique(departures.season[moving]))
    return Movement(
        len(value), ratio, p_value, freedom, *_memory(value, variance, len(value) - seasons)
    )


def _memory(value: np.ndarray, variance: np.ndarray, free: int) -> tuple[float, float]:
    """Lag-one autocorrelation and its chance band, where seasonal means left `free` periods.

    A period in which nothing could depart is left out: the one before it is the yesterday of
    the one after, as Friday is Monday's where weekends are closed.
    """
    scale = np.sqrt(variance)
    standard = np.divide(value, scale, out=np.zeros_like(value), where=scale > 0)
    total = float((standard**2).sum())
    if total == 0 or free < 1:
        return np.nan, np.nan
    follow = float((standard[1:] * standard[:-1]).sum()) / total
    return follow, BAND / math.sqrt(free * _apart(standard))


def _apart(standard: Float[np.ndarray, "period group"]) -> float:
    """How many groups that vary independently would vary as these do: (tr S)^2 / tr S^2, where
    S is the groups' covariance. It is 1 where all move as one, and at most their number."""
    periods, groups = standard.shape
    total = float((standard**2).sum())
    crossed = standard.T @ standard if groups < periods else standard @ standard.T
    # An estimated S has tr S^2 too large by (tr S)^2 / periods.
    alike = float((crossed**2).sum()) / total**2 - 1.0 / periods
    return float(1.0 / np.clip(alike, 1.0 / groups, 1.0))
