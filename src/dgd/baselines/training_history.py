"""Training-period history: every day is like the training days.

S is the sum of the training pattern counts, the arrivals forecast their mean
per day. Nothing observed later changes the forecast.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from dgd.baselines.joint_history import (
    TAUS,
    HistoryFit,
    Remembered,
    choose,
    repeat_steps,
    require_positive,
)
from dgd.panel import Panel
from dgd.periods import Moment
from dgd.split import Split


@dataclass(frozen=True)
class TrainingHistory:
    """Forecasts the training period's mean counts and pattern shares.

    **Arguments:**

    - `taus`: smoothing strengths to choose from on the validation days.
    """

    taus: Sequence[float] = TAUS

    def __post_init__(self) -> None:
        require_positive("taus", self.taus)

    def fit(
        self,
        panel: Panel,
        *,
        train_end: Moment,
        validation_end: Moment,
        warmup_end: Moment | None = None,
        seeds: Sequence[int] = (1, 2, 3),  # noqa: ARG002
        progress: Callable[[int, int, float], None] | None = None,  # noqa: ARG002
    ) -> HistoryFit:
        """Choose tau by the joint NLL of the validation days."""
        split = Split.of(panel, train_end, validation_end, warmup_end)
        _, tau, nll = choose(panel, split, [training_total], self.taus)
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
