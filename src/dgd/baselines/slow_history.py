r"""Slow history: every day so far counts, and loses half its weight in weeks rather than days.

What people do once they have arrived usually drifts over weeks. A memory of a few days
follows the accidents of those days instead; the training average never moves at all. Between the
two lies the opponent that is often the hardest to beat in joint patterns:

.. math:: S_t = \frac{\sum_{s \le t} \rho^{t-s} C_s}{\sum_{s \le t} \rho^{t-s}},
    \qquad \rho = 2^{-1/t_{1/2}}

Sums begin at the first training day. Dividing by the weights of the days seen matters here: simple
exponential smoothing, which begins with the first day's own counts, would for weeks say little
but what that one day was like, and where it was a holiday forecast hardly any arrivals. As the
half-life grows, S becomes the plain average of all days so far.

S is of the size of one day's counts although it holds those of weeks, so weak smoothing is among
the candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Int

from dgd.baselines.joint_history import LookBack, Remembered, repeat_steps
from dgd.baselines.smoothed_history import SmoothedHistory
from dgd.panel.panel import Panel
from dgd.panel.split import Split

WEEKS_LONG = (7.0, 14.0, 28.0, 56.0, 112.0)
"""Half-lives to choose from, from one week to sixteen."""
WEAK_TO_STRONG = (0.1, 1.0, 10.0, 100.0)
"""Smoothing strengths to choose from with them."""


@dataclass(frozen=True, kw_only=True)
class SlowHistory(SmoothedHistory):
    """Forecasts the average of all days so far, recent weeks counting more.

    Args:
        half_lives: after how many days (hours, weeks: the panel's own period) a count has
            lost half its weight; to choose from on the validation days.
        taus: smoothing strengths to choose from with them.
    """

    taus: Sequence[float] = WEAK_TO_STRONG
    half_lives: Sequence[float] = WEEKS_LONG

    def memory(self, half_life: float) -> LookBack:
        """The fading average of all days so far."""
        return partial(fading_average, half_life=half_life)


def fading_average(
    panel: Panel,
    split: Split,
    origins: Int[np.ndarray, " origin"],
    horizon: int,
    *,
    half_life: float,
) -> Remembered:
    """Average pattern counts from the first training day to each origin, older days fading."""
    retention = 2 ** (-1 / half_life)
    counts = panel.patterns[split.first : int(origins.max()) + 1].astype(np.float64)
    weight = 1.0
    for day in range(1, len(counts)):
        weight = 1 + retention * weight
        counts[day] = counts[day - 1] + (counts[day] - counts[day - 1]) / weight
    return repeat_steps(counts[origins - split.first], horizon)
