"""Training-period history: every day is like the training days.

S is the sum of the training pattern counts, the arrivals forecast their mean
per day. Nothing observed later changes the forecast.
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
class TrainingHistory(History):
    """Forecasts the training period's mean counts and pattern shares.

    Args:
        taus: smoothing strengths to choose from on the validation days.
    """

    def choose(self, panel: Panel, split: Split) -> HistoryFit:
        """Choose tau by the joint NLL of the validation days."""
        _, tau, nll = least_nll(panel, split, [training_total], self.taus)
        return HistoryFit(panel, split, {"tau": tau}, nll, training_mean, training_total, tau)


def training_total(
    panel: Panel, split: Split, origins: Int[np.ndarray, " origin"], horizon: int
) -> Remembered:
    """Pattern counts of all training days together."""
    total = panel.patterns[split.train].sum(0).astype(np.float64)
    return repeat_steps(np.broadcast_to(total[None], (len(origins), *total.shape)), horizon)


def training_mean(
    panel: Panel, split: Split, origins: Int[np.ndarray, " origin"], horizon: int
) -> Remembered:
    """Pattern counts of a training day on average."""
    days = split.train_stop - split.first
    return training_total(panel, split, origins, horizon) / days
