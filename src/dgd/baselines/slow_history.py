"""Slow history: smoothed history whose days lose half their weight in weeks.

What people do once they have arrived usually drifts over weeks. A memory of a few days
follows the accidents of those days instead, and the training average never moves at all. Between
the two lies the opponent that is often the hardest to beat in joint patterns.

It begins, like smoothed history, with the counts of the first training day, which a long half-life
hardly leaves within weeks: where that was a holiday, arrivals are forecast far too low. Shares
do not suffer. S is of the size of a day's counts although it holds those of weeks, so weak
smoothing is among the candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dgd.baselines.smoothed_history import SmoothedHistory

WEEKS_LONG = (7.0, 14.0, 28.0, 56.0, 112.0)
"""Half-lives to choose from, from one week to sixteen."""
WEAK_TO_STRONG = (0.1, 1.0, 10.0, 100.0)
"""Smoothing strengths to choose from with them."""


@dataclass(frozen=True, kw_only=True)
class SlowHistory(SmoothedHistory):
    """Forecasts exponentially averaged counts and their pattern shares, recent weeks counting more.

    Args:
        half_lives: after how many days (hours, weeks: the panel's own period) a count has
            lost half its weight; to choose from on the validation days.
        taus: smoothing strengths to choose from with them.
    """

    taus: Sequence[float] = WEAK_TO_STRONG
    half_lives: Sequence[float] = WEEKS_LONG
