"""The anchor of a fit: what the past alone expects, and how much of the model joins it.

A forecast is a pool of two: counts so far, smoothed and shrunken (`PatternAnchor`,
`ArrivalAnchor`), and the trained model with its departures from them. How much of the model
enters is decided by evidence on the validation days. Where it has earned nothing the forecast
is the anchor exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Int

from dgd.anchoring.arrival_anchor import ArrivalAnchor
from dgd.anchoring.evidence import POOLS, earned_share
from dgd.anchoring.levels import LEAST_PROBABILITY
from dgd.anchoring.pattern_anchor import PatternAnchor
from dgd.anchoring.weighing import blocks_of
from dgd.forecasting.pool import Pool, fading, pool
from dgd.forecasting.predictive import Predictive
from dgd.panel.panel import Panel
from dgd.panel.split import Split

PATTERNS_AT_FIRST = POOLS[1]
"""Share of the model in joint patterns before any evidence. Of arrivals it has none: models of a
few weeks are too often behind smoothers there."""

Predict: TypeAlias = Callable[[Int[np.ndarray, " origin"], int], Predictive]
"""Forecasts of the model alone."""
LevelAhead: TypeAlias = Float[np.ndarray, "step origin"] | None
"""What moves forecasts of cells to that of the total, where other cells are elsewhere."""
Levels: TypeAlias = Callable[[Int[np.ndarray, " origin"], int], np.ndarray]
"""The same for any origins and horizon."""


@dataclass(frozen=True, eq=False)
class Anchor:
    """What a forecast starts from; parts that were not asked for are missing."""

    patterns: PatternAnchor | None
    arrivals: ArrivalAnchor | None
    pattern_share: float = 0.0
    """Share of the model in the joint patterns."""
    arrival_share: float = 0.0
    """Share of the model in the arrivals."""
    learned_spread: bool = True
    """Whether arrivals scatter as they did around past forecasts, or as the model was told."""
    reach: int = 1
    """Steps ahead up to which the model has earned its share; beyond them it fades."""

    def weighed(
        self, panel: Panel, split: Split, predict: Predict, levels: Levels | None = None
    ) -> "Anchor":
        """The same anchor with the shares that the model earns on the validation days; `levels`
        are needed where the panel holds some of many units."""
        days = np.arange(split.train_stop, split.validation_stop)
        pattern_losses = np.zeros((len(POOLS), len(days), len(panel.units)))
        arrival_losses = np.zeros((len(POOLS), len(days)))
        for step in blocks_of(days):
            origins = np.arange(split.train_stop - 1, split.validation_stop - step)
            model = predict(origins, step).at(-1).averaged()
            recorded = panel.patterns[origins + step]
            at = slice(step - 1, None)
            if self.patterns is not None:
                own = self.patterns.predict(panel, origins, step)[-1]
                pattern_losses[:, at] += _nll(recorded, own, model.patterns[0, 0])
            if self.arrivals is not None:
                level = None if levels is None else levels(origins, step)
                expected = self.arrivals.predict(panel, origins, step, level)[-1]
                arrival_losses[:, at] += _miss(recorded, expected, model.arrivals[0, 0])
        return Anchor(
            self.patterns,
            self.arrivals,
            earned_share(pattern_losses.reshape(len(POOLS), -1), at_first=PATTERNS_AT_FIRST),
            earned_share(arrival_losses),
            self.learned_spread,
            blocks_of(days)[-1],
        )

    def of_units(self, units: Int[np.ndarray, " some"]) -> "Anchor":
        """The anchor of some of the units."""
        arrivals = None if self.arrivals is None else self.arrivals.of_units(units)
        return replace(self, arrivals=arrivals)

    @property
    def knows_everyone(self) -> bool:
        """Whether some units can be forecast without the others at hand."""
        return self.patterns is None or self.patterns.of_everyone

    def pool(
        self,
        panel: Panel,
        origins: Int[np.ndarray, " origin"],
        horizon: int,
        level: LevelAhead = None,
    ) -> Pool:
        """What the past alone expects of every step, and the share of the model in it; where the
        panel holds some of many units, arrivals are at the `level` of all."""
        patterns = arrivals = None
        if self.patterns is not None:
            patterns = self.patterns.predict(panel, origins, horizon)
        if self.arrivals is not None:
            arrivals = self.arrivals.predict(panel, origins, horizon, level)
        return self.pool_of(arrivals, patterns, horizon)

    def pool_of(
        self, arrivals: np.ndarray | None, patterns: np.ndarray | None, horizon: int
    ) -> Pool:
        """The same of what the past was found to expect; of patterns, rates will do."""
        alone = np.ones(horizon)
        return Pool(
            arrivals,
            patterns,
            alone if arrivals is None else fading(self.arrival_share, self.reach, horizon),
            alone if patterns is None else fading(self.pattern_share, self.reach, horizon),
        )

    def joined(
        self,
        model: Predictive,
        panel: Panel,
        origins: Int[np.ndarray, " origin"],
        level: LevelAhead = None,
    ) -> Predictive:
        """The forecast of the model, pooled with what the past alone expects."""
        pooled = self.pool(panel, origins, model.horizon, level)
        steps = range(model.horizon)
        arrivals = [pooled.arrivals_at(step, model.arrivals[:, step]) for step in steps]
        patterns = [pooled.patterns_at(step, model.patterns[:, step]) for step in steps]
        spread = model.dispersion
        if self.arrivals is not None and self.learned_spread:
            spread = self.arrivals.dispersion_at(model.horizon)
        return Predictive(np.stack(arrivals, 1), np.stack(patterns, 1), spread)


def _nll(
    counts: Int[np.ndarray, "day unit cohort pattern"], own: np.ndarray, model: np.ndarray
) -> Float[np.ndarray, "pool day unit"]:
    likely = [np.maximum(pool(own, model, share), LEAST_PROBABILITY) for share in POOLS]
    return np.stack([-(counts * np.log(one)).sum((2, 3)) for one in likely])


def _miss(
    counts: Int[np.ndarray, "day unit cohort pattern"], own: np.ndarray, model: np.ndarray
) -> Float[np.ndarray, "pool day"]:
    total = counts.sum((1, 2, 3))
    found = [np.abs(pool(own, model, share).sum((1, 2)) - total) for share in POOLS]
    return np.stack(found)
