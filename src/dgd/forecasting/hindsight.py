"""Forecasts as they would have been made at past origins, to learn what forecasts are worth.

Origins are days before training and validation days that forecasts could be held against, the
latest of them; days after the validation days are never looked at. The trained model has seen these
days, so what it says of them is a little too good.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from dgd.forecasting.asked import counted_series
from dgd.forecasting.calibration import PastDraws, measured_steps
from dgd.forecasting.predictive import Predictive
from dgd.forecasting.scatter import Errors
from dgd.panel.continuing import repeated_through
from dgd.panel.panel import Panel
from dgd.panel.split import Split

WARMING_DAYS = 14
"""Training days before the first that a forecast is held against, where a quarter of training
allows it."""
MOST_ORIGINS = 80
"""Past origins that are looked at, the latest ones."""
ENOUGH_ORIGINS = 20
"""Of large panels rather fewer steps ahead are looked at than fewer origins."""
MOST_EXPECTED = 20_000_000
"""Steps x origins x cells x patterns that are held at once."""
MOST_DRAWN = 40_000_000
"""Paths x steps x origins x cells x series that are kept."""
PATHS = 200
FEWEST_PATHS = 40


def scored_days(split: Split) -> Int[np.ndarray, " day"]:
    """The days that forecasts are held against: of training and of validation."""
    warming = max(1, min(WARMING_DAYS, (split.train_stop - split.first) // 4))
    return np.arange(split.first + warming, split.validation_stop)


@dataclass(frozen=True, eq=False)
class Hindsight:
    """Past origins, and how far ahead of them the days are known."""

    panel: Panel
    """Its effort and features reach as far as is forecast."""
    origins: Int[np.ndarray, " origin"]
    """From the earliest on."""
    steps: tuple[int, ...]
    """Steps ahead that are measured."""
    stop: int
    """The first day number that may not be looked at."""

    @staticmethod
    def of(panel: Panel, days: Int[np.ndarray, " day"], first_origin: int) -> "Hindsight":
        """The days before these, as many and as far ahead as can be looked at."""
        origins = days[-MOST_ORIGINS:] - 1
        origins = origins[origins >= first_origin]
        steps = measured_steps(len(origins))
        most = [max(MOST_EXPECTED // (step * panel.counts.of_a_day), 2) for step in steps]
        while len(steps) > 1 and most[len(steps) - 1] < min(len(origins), ENOUGH_ORIGINS):
            steps = steps[:-1]
        apart = -(-len(origins) // most[len(steps) - 1])
        origins = origins[::apart]
        longer = repeated_through(panel, int(origins[-1]) + steps[-1] + 1)
        return Hindsight(longer, origins, steps, int(days[-1]) + 1)

    def errors(
        self, predict: Callable[[Int[np.ndarray, " origin"], int, Panel], Predictive]
    ) -> dict[int, Errors]:
        """What was forecast, so many steps ahead, beside what was then recorded."""
        expected = predict(self.origins, self.steps[-1], self.panel).averaged()
        errors = {}
        for step in self.steps:
            known = self.origins + step < self.stop
            errors[step] = Errors(
                expected.arrivals[0, step - 1, known],
                expected.patterns[0, step - 1, known],
                self.panel.patterns[self.origins[known] + step],
            )
        return errors

    def reach(self, horizon: int) -> int:
        """The measured step that is enough for a horizon, or the last."""
        return next((step for step in self.steps if step >= horizon), self.steps[-1])

    def paths(self, reach: int) -> int:
        """How many paths of so many days are drawn at each origin."""
        size = reach * len(self.origins) * self.panel.behavior_counts[0].size
        return int(np.clip(MOST_DRAWN // max(size, 1), FEWEST_PATHS, PATHS))

    def beside(self, drawn: Int[np.ndarray, "path step origin unit cohort counted"]) -> PastDraws:
        """Paths drawn from the origins beside what was recorded."""
        steps = drawn.shape[1]
        ahead = self.origins + np.arange(1, steps + 1)[:, None]
        recorded = counted_series(self.panel.patterns[np.minimum(ahead, self.stop - 1)])
        measured = tuple(step for step in self.steps if step <= steps)
        return PastDraws(measured, drawn, recorded, self.origins, ahead < self.stop)
