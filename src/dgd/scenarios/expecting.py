"""What a fit expects of any future of the same days: its forecast moved by its model."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Prediction
from dgd.model.feedback.feedback import State
from dgd.runtime import computing
from dgd.scenarios.bounded import bounded
from dgd.scenarios.future import Future, Outlook
from dgd.scenarios.level import Level, series_of
from dgd.scenarios.paths import WalkedDays, answered, mean_of, walked
from dgd.scenarios.planned_fit import ExpectingFit


@dataclass(frozen=True, eq=False)
class Expecting:
    """The crowds of a fit before the days of an outlook."""

    fit: ExpectingFit
    outlook: Outlook
    crowds: tuple[Crowd, ...]
    """Those of the fit, held near where recorded days have taken them."""
    firsts: tuple[State, ...]
    """What each crowd carries into the first day ahead."""
    planned: tuple[WalkedDays, ...]
    """Each crowd's walk through the future as planned."""
    levels: tuple[Level, ...]
    """Each seed's forecast, and what its crowd alone expects."""

    @staticmethod
    def of(fit: ExpectingFit, outlook: Outlook) -> "Expecting":
        """Forecast the future as planned, and walk every crowd through it."""
        origin = np.array([outlook.day])
        found = fit.predict(origin, outlook.horizon, outlook.panel)
        with computing():
            forecasts = [
                Prediction(jnp.asarray(arrivals), jnp.asarray(np.moveaxis(patterns, -1, 0)))
                for arrivals, patterns in zip(
                    found.arrivals[:, :, 0], found.patterns[:, :, 0], strict=True
                )
            ]
            firsts = tuple(fit.carried(number, origin) for number in range(len(fit.crowds)))
            inputs = outlook.inputs(fit.features, outlook.planned)
            pairs_of_seeds = zip(fit.crowds, fit.states, strict=True)
            crowds = tuple(bounded(crowd, states) for crowd, states in pairs_of_seeds)
            planned = _walks(crowds, firsts, inputs)
            pairs = zip(forecasts, planned, strict=True)
            levels = tuple(Level(forecast, walk.prediction) for forecast, walk in pairs)
        return Expecting(fit, outlook, crowds, firsts, planned, levels)

    def inputs(self, future: Future) -> Inputs:
        return self.outlook.inputs(self.fit.features, future)

    def walks(self, future: Future) -> tuple[WalkedDays, ...]:
        """Each crowd's walk through another future."""
        with computing():
            return _walks(self.crowds, self.firsts, self.inputs(future))

    @property
    def forecast(self) -> Prediction:
        """The forecast of the future as planned, on the mean over seeds."""
        with computing():
            return mean_of([level.forecast for level in self.levels])

    def met(self, states: tuple[WalkedDays, ...], future: Future) -> tuple[Prediction, ...]:
        """What `future` would bring each seed in the states of other walks, level and all."""
        with computing():
            inputs = self.inputs(future)
            parts = zip(self.crowds, self.levels, states, strict=True)
            return tuple(
                level.moved(answered(crowd, walk.states, inputs)) for crowd, level, walk in parts
            )

    def series(self, future: Future) -> Float[np.ndarray, "date unit cohort series"]:
        """Expected arrivals and behaviours of a future."""
        walks = self.walks(future)
        with computing():
            pairs = zip(self.levels, walks, strict=True)
            moved = [level.moved(walk.prediction) for level, walk in pairs]
            return np.asarray(series_of(mean_of(moved)))

    def planned_series(self) -> Float[np.ndarray, "date unit cohort series"]:
        """Those of the future as planned: the forecast itself."""
        with computing():
            return np.asarray(series_of(self.forecast))


def _walks(
    crowds: tuple[Crowd, ...], firsts: tuple[State, ...], inputs: Inputs
) -> tuple[WalkedDays, ...]:
    pairs = zip(crowds, firsts, strict=True)
    return tuple(walked(crowd, first, inputs) for crowd, first in pairs)
