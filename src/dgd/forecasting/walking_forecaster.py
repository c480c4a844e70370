"""Forecasters that walk from day to day: how all of them predict and draw paths."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Int, PyTree

from dgd.forecasting.predictive import Drawn, Predictive
from dgd.forecasting.protocol import refuse_origins
from dgd.forecasting.rollout import Led, drawn_path, expected_path, rounded_up
from dgd.forecasting.trained_forecaster import TrainedForecaster
from dgd.model.days import Prediction
from dgd.panel.panel import Panel
from dgd.runtime import computing


@dataclass(frozen=True, eq=False, repr=False)
class WalkingForecaster(TrainedForecaster):
    """A forecaster whose parameters are a `Walker` for each seed."""

    @property
    @abstractmethod
    def dispersion(self) -> float:
        """r of the arrivals."""

    @property
    def first_origin(self) -> int:
        """The first day number that forecasts can start from."""
        return self.split.first

    @abstractmethod
    def carried(self, number: int, origins: Int[np.ndarray, " origin"]) -> PyTree:
        """What the seed of that `number` carries into the day after each origin."""

    @abstractmethod
    def ahead(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> Sequence[PyTree]:
        """The 1st, 2nd, ... day after each origin, as known at the origin."""

    def predict(
        self, origins: Int[np.ndarray, " origin"], horizon: int, panel: Panel | None = None
    ) -> Predictive:
        """Arrivals and joint probabilities of each seed, for many origins (day numbers) at
        once; `panel` knows more of the future than the fit's own, where that is needed."""
        panel = panel or self.panel
        refuse_origins(panel, origins, horizon, self.first_origin)
        with computing():
            asked = rounded_up(origins)
            paths = self.expected_paths(panel, asked, horizon)
            arrivals = np.stack([np.asarray(path.arrivals) for path in paths])
            patterns = np.stack([np.asarray(path.patterns) for path in paths])
        return Predictive(
            arrivals[:, :, : len(origins)],
            np.moveaxis(patterns, 2, -1)[:, :, : len(origins)],
            self.dispersion,
            partial(self._sample, panel, origins, horizon),
        )

    def expected_paths(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> list[Prediction]:
        """The expected path of each seed."""
        ahead, led = self.ahead(panel, origins, horizon), self.led(panel, origins, horizon)
        return [
            expected_path(
                walker, self.carried(number, origins), ahead, None if led is None else led[number]
            )
            for number, walker in enumerate(self.parameters)
        ]

    def led(
        self,
        panel: Panel,  # noqa: ARG002
        origins: Int[np.ndarray, " origin"],  # noqa: ARG002
        horizon: int,  # noqa: ARG002
    ) -> Sequence[Led] | None:
        """Where these are some units of many: of each seed, what the cohorts of all units carry
        into the day after each of the days ahead."""
        return None

    def _sample(
        self,
        panel: Panel,
        origins: Int[np.ndarray, " origin"],
        horizon: int,
        rng: np.random.Generator,
        paths: int,
    ) -> Drawn:
        """Paths on which drawn counts are fed back; all paths of a seed are one batch."""
        cells = (len(origins), *panel.counts.shape[1:])
        drawn = np.zeros((paths, horizon, *cells), np.int64)
        with computing():
            for number, walker in enumerate(self.parameters[:paths]):
                own = np.arange(number, paths, len(self.runs))
                batch = np.tile(origins, len(own))
                days = self.ahead(panel, batch, horizon)
                walk = drawn_path(walker, self.carried(number, batch), days, self.dispersion, rng)
                for step, day in enumerate(walk):
                    drawn[own, step] = day.counts.reshape(len(own), *cells)
        return drawn
