r"""Smoothed history: recent days count more, older ones fade.

S is an exponential average of the daily pattern counts C and the arrivals
forecast is its sum:

.. math:: S_t = \rho S_{t-1} + (1 - \rho) C_t, \qquad \rho = 2^{-1/t_{1/2}}

Days without arrivals enter too. The average begins at the first training day
with that day's own counts, as simple exponential smoothing usually does; on
the paper's Retail windows that day is a holiday without arrivals, so that a
beginning at zero gives the same numbers, and a beginning in the warm-up does
not give the paper's 10.38.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from jaxtyping import Int

from dgd.baselines.joint_history import (
    History,
    HistoryFit,
    Remembered,
    least_nll,
    repeat_steps,
    require_positive,
)
from dgd.panel.panel import Panel
from dgd.panel.split import Split

HALF_LIVES = (1.0, 3.0, 7.0)
"""Half-lives to choose from, as in the paper."""


@dataclass(frozen=True, kw_only=True)
class SmoothedHistory(History):
    """Forecasts exponentially averaged counts and their pattern shares.

    Args:
        half_lives: after how many days (hours, weeks: the panel's own period) a count has
            lost half its weight; to choose from on the validation days.
        taus: smoothing strengths to choose from with them.
    """

    half_lives: Sequence[float] = HALF_LIVES

    def __post_init__(self) -> None:
        require_positive("half_lives", self.half_lives)
        super().__post_init__()

    def choose(self, panel: Panel, split: Split) -> HistoryFit:
        """Choose half-life and tau together by the joint NLL of the validation days."""
        memories = [partial(smoothed, half_life=half_life) for half_life in self.half_lives]
        best, tau, nll = least_nll(panel, split, memories, self.taus)
        settings = {"tau": tau, "half_life": self.half_lives[best]}
        return HistoryFit(panel, split, settings, nll, memories[best], memories[best], tau)


def smoothed(
    panel: Panel,
    split: Split,
    origins: Int[np.ndarray, " origin"],
    horizon: int,
    *,
    half_life: float,
) -> Remembered:
    """Exponentially averaged pattern counts from the first training day to each origin."""
    retention = 2 ** (-1 / half_life)
    counts = panel.patterns[split.first : int(origins.max()) + 1].astype(np.float64)
    for before, today in pairwise(counts):
        today[...] = retention * before + (1 - retention) * today
    return repeat_steps(counts[origins - split.first], horizon)
