"""Last-day history: every day is like the last one observed.

S is the pattern counts of the origin, the arrivals forecast their sum.
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
class LastDayHistory:
    """Forecasts the counts and pattern shares of the last day observed.

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
        _, tau, nll = choose(panel, split, [last_day], self.taus)
        return HistoryFit(panel, split, {"tau": tau}, nll, last_day, last_day, tau)


def last_day(
    panel: Panel,
    split: Split,  # noqa: ARG001
    origins: Int[np.ndarray, " origin"],
    horizon: int,
) -> Remembered:
    """Pattern counts of the origin itself."""
    return repeat_steps(panel.patterns[origins].astype(np.float64), horizon)
