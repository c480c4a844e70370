"""A fit that draws futures, and past ones to hold them against."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int

from dgd.forecasting.asked import counted_series
from dgd.forecasting.calibration import PastDraws
from dgd.forecasting.futures import (
    DrawnDays,
    Kept,
    drawn_futures,
    paths_at_once,
    together,
)
from dgd.forecasting.hindsight import Hindsight, scored_days
from dgd.forecasting.predictive import Drawn, Predictive
from dgd.forecasting.scatter import Scatter
from dgd.forecasting.walking_forecaster import WalkingForecaster
from dgd.learning.settings import Settings
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs
from dgd.model.feedback.feedback import State
from dgd.panel.panel import Panel
from dgd.runtime import computing


@dataclass(frozen=True, eq=False, repr=False)
class DrawingForecaster(WalkingForecaster):
    """A forecaster of crowds, whose paths scatter around its forecast."""

    settings: Settings

    @property
    def crowds(self) -> tuple[Crowd, ...]:
        """Each seed's parameters."""
        return self.parameters

    @abstractmethod
    def expected(
        self, origins: Int[np.ndarray, " origin"], horizon: int, panel: Panel | None = None
    ) -> Predictive:
        """The forecast before it is known how far days scatter around it."""

    @abstractmethod
    def carried_by(self, crowd: Crowd, origins: Int[np.ndarray, " origin"]) -> State:
        """What a crowd with other parameters carries into the day after each origin."""

    @cached_property
    def hindsight(self) -> Hindsight:
        """Past origins that forecasts can be held against."""
        return Hindsight.of(self.panel, scored_days(self.split), self.first_origin)

    def draw_futures(
        self,
        futures: Sequence[Sequence[Inputs]],
        day: int,
        panel: Panel,
        paths: int,
        seed: int,
        crowds: Sequence[Crowd] | None = None,
        carried: Sequence[State] | None = None,
    ) -> tuple[Int[np.ndarray, "path step unit cohort pattern"], ...]:
        """Paths of several futures after the day of that number, which share every chance.

        Args:
            futures: each the 1st, 2nd, ... day ahead.
            crowds: parameters to draw with; those of the seeds where none are given.
            carried: what these carry into the first day ahead, where it is known already.

        Returns:
            of every future, counts with axes [path, step, unit, cohort, pattern].
        """
        origins = np.array([day])
        rng = np.random.default_rng(seed)
        horizon = len(futures[0])
        days = self._drawn(tuple, panel, origins, horizon, rng, paths, futures, crowds, carried)
        return tuple(np.stack(same, 1)[:, :, 0] for same in zip(*days, strict=True))

    @cached_property
    def scatter(self) -> Scatter:
        """How far days scatter around forecasts, in scores and on drawn paths alike: with
        innovations as they did around past ones, without by the dispersion of the settings."""
        if self.settings.innovations == "learned":
            return Scatter.measured(self.hindsight.errors(self.expected))
        return Scatter.given(self.dispersion, len(self.panel.cohorts), len(self.panel.behaviors))

    def past(self, horizon: int) -> PastDraws:
        """Paths drawn at past origins, against which intervals up to that horizon are held."""
        back = self.hindsight
        reach = back.reach(horizon)
        if reach not in self._drawn_before:
            rng, paths = np.random.default_rng(0), back.paths(reach)
            days = self._drawn(counted_days, back.panel, back.origins, reach, rng, paths)
            self._drawn_before[reach] = back.beside(np.stack(days, 1))
        return self._drawn_before[reach]

    @cached_property
    def _drawn_before(self) -> dict[int, PastDraws]:
        return {}

    def _drawn(
        self,
        keep: Callable[[DrawnDays], Kept],
        panel: Panel,
        origins: Int[np.ndarray, " origin"],
        horizon: int,
        rng: np.random.Generator,
        paths: int,
        futures: Sequence[Sequence[Inputs]] | None = None,
        crowds: Sequence[Crowd] | None = None,
        carried: Sequence[State] | None = None,
    ) -> list[Kept]:
        """What is kept of every step ahead on paths from the origins, or of other futures."""
        scatter, led = self.scatter, None
        with computing():
            if crowds is None:
                crowds, led = self.crowds, self.led(panel, origins, horizon)
                carried = [self.carried(n, origins) for n in range(len(crowds))]
            if futures is None:
                futures = [self.ahead(panel, origins, horizon)]
            if carried is None:
                carried = [self.carried_by(crowd, origins) for crowd in crowds]
            size = len(futures) * len(origins) * panel.counts.of_a_day
            at_once = paths_at_once(paths, len(crowds), size)
            turns = []
            for _ in range(0, paths, at_once):
                days = drawn_futures(
                    crowds, carried, futures, scatter, rng, min(at_once, paths), led
                )
                turns.append([keep(day) for day in days])
        return [together(day, paths) for day in zip(*turns, strict=True)]

    def _sample(
        self,
        panel: Panel,
        origins: Int[np.ndarray, " origin"],
        horizon: int,
        rng: np.random.Generator,
        paths: int,
    ) -> Drawn:
        return np.stack(self._drawn(_only, panel, origins, horizon, rng, paths), 1)


def _only(futures: DrawnDays) -> Int[np.ndarray, "path origin unit cohort pattern"]:
    """The counts of the one future there is."""
    return futures[0]


def counted_days(futures: DrawnDays) -> Int[np.ndarray, "path origin unit cohort counted"]:
    """Arrivals and behaviours of the one future there is, in half the memory."""
    return counted_series(futures[0]).astype(np.int32)
