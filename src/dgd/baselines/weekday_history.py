"""Weekday history: a Monday is like the Mondays before it.

Arrivals are the mean of the same weekday over the last k weeks known at the
origin (on hourly panels the same hour of the week, on weekly panels simply
the last k weeks). The paper leaves this opponent out; shops and platforms with
a weekly rhythm make it hard to beat.

k is chosen on the validation days by the mean absolute error of the arrivals
of a unit and cohort, one day ahead, for arrivals are what k is about. The
joint distribution comes from the pattern counts of those same days or from
all training days, whichever has the lower validation joint NLL, smoothed with
tau like the other histories.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Int

from dgd.baselines.joint_history import (
    History,
    HistoryFit,
    LookBack,
    Remembered,
    Setting,
    least_nll,
    require_positive,
    validation_origins,
)
from dgd.baselines.training_history import training_total
from dgd.errors import InputError
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.scoring.count_scores import cell_arrival_mae

WEEKS = tuple(range(1, 9))
WEEK = np.timedelta64(7, "D")


@dataclass(frozen=True, kw_only=True)
class WeekdayHistory(History):
    """Forecasts the mean of the same weekday over the last weeks.

    Args:
        weeks: numbers of weeks k to choose from on the validation days.
        taus: smoothing strengths to choose from.
    """

    weeks: Sequence[int] = WEEKS

    def __post_init__(self) -> None:
        require_positive("weeks", self.weeks)
        super().__post_init__()
        if any(k != int(k) for k in self.weeks):
            raise InputError(f"weeks is {tuple(self.weeks)}; give whole numbers of weeks.")

    def choose(self, panel: Panel, split: Split) -> HistoryFit:
        """Choose k by the validation arrivals, then source and tau by their joint NLL."""
        k = min(self.weeks, key=lambda weeks: _validation_error(panel, split, weeks))
        volume = partial(weekday_mean, weeks=k)
        sources: dict[str, LookBack] = {
            "same weekdays": partial(weekday_total, weeks=k),
            "training": training_total,
        }
        best, tau, nll = least_nll(panel, split, sources.values(), self.taus)
        source = list(sources)[best]
        settings: dict[str, Setting] = {"weeks": k, "patterns": source, "tau": tau}
        return HistoryFit(panel, split, settings, nll, volume, sources[source], tau)


def _validation_error(panel: Panel, split: Split, weeks: int) -> float:
    expected = weekday_mean(panel, split, validation_origins(split), 1, weeks=weeks)[0].sum(-1)
    recorded = panel.arrivals[split.train_stop : split.validation_stop].astype(np.float64)
    return cell_arrival_mae(recorded, expected)


def weekday_total(
    panel: Panel, split: Split, origins: Int[np.ndarray, " origin"], horizon: int, *, weeks: int
) -> Remembered:
    """Pattern counts of the last `weeks` same weekdays together."""
    return _total(panel, _same_weekdays(panel, split, origins, horizon, weeks))


def weekday_mean(
    panel: Panel, split: Split, origins: Int[np.ndarray, " origin"], horizon: int, *, weeks: int
) -> Remembered:
    """Pattern counts of the last `weeks` same weekdays on average."""
    used = _same_weekdays(panel, split, origins, horizon, weeks)
    return _total(panel, used) / used.sum(-1)[..., None, None, None]


def _same_weekdays(
    panel: Panel, split: Split, origins: Int[np.ndarray, " origin"], horizon: int, weeks: int
) -> Bool[np.ndarray, "step origin day"]:
    """Which days each forecast looks back on.

    From the first training day to the origin. Where the history is shorter
    than `weeks` weeks all its same weekdays are used, and all its days where
    it holds no such weekday.
    """
    season = int(WEEK / panel.period.step)
    day = np.arange(panel.days)
    ahead = origins[None] + np.arange(1, horizon + 1)[:, None]
    back = ahead[..., None] - day
    known = (day >= split.first) & (day <= origins[:, None])[None]
    alike = known & (back % season == 0)
    skipped = (ahead - origins[None] - 1) // season
    recent = alike & (back // season - skipped[..., None] <= weeks)
    return np.where(recent.any(-1, keepdims=True), recent, known)


def _total(panel: Panel, used: Bool[np.ndarray, "step origin day"]) -> Remembered:
    """Counts of the days used, added up; whole numbers, so that no order of summation matters."""
    return np.tensordot(used.astype(np.float64), panel.patterns.astype(np.float64), 1)
