"""Last-day history: every day is like the last one observed.

S is the pattern counts of the origin, the arrivals forecast their sum.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from dgd.baselines.joint_history import (
    History,
    HistoryFit,
    Remembered,
    least_nll,
    repeat_steps,
)
from dgd.panel.panel import Panel
from dgd.panel.split import Split


@dataclass(frozen=True, kw_only=True)
class LastDayHistory(History):
    """Forecasts the counts and pattern shares of the last day observed.

    Args:
        taus: smoothing strengths to choose from on the validation days.
    """

    def choose(self, panel: Panel, split: Split) -> HistoryFit:
        """Choose tau by the joint NLL of the validation days."""
        _, tau, nll = least_nll(panel, split, [last_day], self.taus)
        return HistoryFit(panel, split, {"tau": tau}, nll, last_day, last_day, tau)


def last_day(
    panel: Panel,
    split: Split,  # noqa: ARG001
    origins: Int[np.ndarray, " origin"],
    horizon: int,
) -> Remembered:
    """Pattern counts of the origin itself."""
    return repeat_steps(panel.patterns[origins].astype(np.float64), horizon)
