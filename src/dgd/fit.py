"""Fit: what training left behind, ready to forecast."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Int
from narwhals.typing import IntoFrame

from dgd.anchoring.anchor import Anchor
from dgd.anchoring.anchor_table import anchor_table
from dgd.anchoring.stored import anchor_restored, anchor_stored
from dgd.anchoring.weighing import scored_days
from dgd.errors import InputError
from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.forecasting.asked import Asked, counted_series
from dgd.forecasting.calibration import PastDraws, Promise, checked_levels
from dgd.forecasting.forecast import Forecast
from dgd.forecasting.futures import (
    DrawnDays,
    Kept,
    drawn_futures,
    paths_at_once,
    together,
)
from dgd.forecasting.hindsight import Hindsight
from dgd.forecasting.pool import Pool
from dgd.forecasting.predictive import Drawn, Predictive
from dgd.forecasting.protocol import refuse_horizon
from dgd.forecasting.ranges import Ranges
from dgd.forecasting.rollout import states_at_dawn
from dgd.forecasting.scatter import Scatter
from dgd.forecasting.trained_forecaster import forecaster_data
from dgd.forecasting.walking_forecaster import WalkingForecaster
from dgd.learning.building import blank_crowd, shape_of
from dgd.learning.fitted_people import FittedPeople
from dgd.learning.seeds import checked_seeds
from dgd.learning.settings import Settings
from dgd.learning.sizing import sized_like
from dgd.learning.trained import restored_runs
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Outcomes
from dgd.model.feedback.feedback import State
from dgd.panel.continuing import continued
from dgd.panel.panel import Panel
from dgd.panel.sequences import days_ahead, recorded_days
from dgd.runtime import computing
from dgd.scenarios.fitted_scenarios import FittedScenarios
from dgd.tables.periods import Moment

PATHS = 2000
"""Futures that are drawn where ranges are asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit(WalkingForecaster, FittedPeople, FittedScenarios):
    """A fitted model: one parameter set per seed, with the panel it was fitted on."""

    settings: Settings
    anchor: Anchor | None = None
    """What forecasts start from; without it they are the model's alone."""

    holds: ClassVar[str] = "fit"

    @property
    def crowds(self) -> tuple[Crowd, ...]:
        """Each seed's parameters."""
        return self.parameters

    def predict(
        self, origins: Int[np.ndarray, " origin"], horizon: int, panel: Panel | None = None
    ) -> Predictive:
        """Arrivals and joint probabilities for many origins (day numbers) at once: those of the
        model, pooled with its anchor by the share that the model has earned.

        `panel` knows more of the future than the fit's own, where that is needed.
        """
        panel = panel or self.panel
        found = super().predict(origins, horizon, panel)
        if self.anchor is not None:
            found = replace(self.anchor.joined(found, panel, origins), sampler=found.sampler)
        return replace(found, promise=self._promise)

    def _promise(self, asked: Asked, group: Sequence[int], level: float, horizon: int) -> Promise:
        return self.past(horizon).promise(asked, group, level, horizon)

    @property
    def unanchored(self) -> "Fit":
        """The trained model by itself, without the anchor that forecasts start from."""
        return replace(self, anchor=None)

    def forecast(
        self,
        horizon: int,
        *,
        origin: Moment | None = None,
        effort: IntoFrame | None = None,
        features: IntoFrame | None = None,
        levels: Sequence[float] = (),
        paths: int | None = None,
        seed: int = 0,
    ) -> Forecast:
        """Expected counts for each of the `horizon` days after `origin`, and their ranges where
        `levels` asks for them.

        Args:
            origin: the last day whose counts are used; the panel's last by default.
            effort, features: for days past the panel, where it was made with such tables.
            levels: of the intervals, in per cent; without any, nothing is drawn.
            paths: how many futures are drawn, 2,000 by default.
            seed: the same seed draws the same paths.
        """
        refuse_horizon(self.panel, horizon)
        levels, seed = checked_levels(levels), checked_seeds([seed])[0]
        if paths is None:
            paths = PATHS if levels else 0
        elif paths < 1:
            raise InputError(f"paths is {paths}; draw at least one.")
        panel = self.panel
        if effort is not None or features is not None:
            panel = panel.with_future(effort, features)
        day = panel.days - 1 if origin is None else panel.index(origin, "origin")
        expected = self.predict(np.array([day]), horizon, panel).averaged()
        dates = panel.period.range(panel.dates[day], horizon + 1)[1:]
        ranges = None
        if paths:
            rng = np.random.default_rng(seed)
            days = self._drawn(_counted, panel, np.array([day]), horizon, rng, paths)
            ranges = Ranges(
                np.stack(days, 1)[:, :, 0], levels, self.past(horizon) if levels else None
            )
        return Forecast(
            panel,
            panel.dates[day],
            dates,
            expected.arrivals[0, :, 0],
            expected.patterns[0, :, 0],
            ranges,
        )

    def draw_futures(
        self,
        futures: Sequence[Sequence[Inputs]],
        day: int,
        panel: Panel,
        paths: int,
        seed: int,
        crowds: Sequence[Crowd] | None = None,
    ) -> tuple[Int[np.ndarray, "path step unit cohort pattern"], ...]:
        """Paths of several futures after the day of that number, which share every chance.

        Args:
            futures: each the 1st, 2nd, ... day ahead; the first is the one that `panel` knows.
            crowds: parameters to draw with; those of the seeds where none are given.

        Returns:
            of every future, counts with axes [path, step, unit, cohort, pattern].
        """
        origins = np.array([day])
        rng = np.random.default_rng(seed)
        horizon = len(futures[0])
        days = self._drawn(tuple, panel, origins, horizon, rng, paths, futures, crowds)
        return tuple(np.stack(same, 1)[:, :, 0] for same in zip(*days, strict=True))

    def pool(self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int) -> Pool:
        """What forecasts are pooled from."""
        if self.anchor is None:
            return Pool.of_the_model(horizon)
        return self.anchor.pool(panel, origins, horizon)

    @cached_property
    def scatter(self) -> Scatter:
        """How far days scatter around forecasts, as past ones did, or by the dispersion given."""
        if self.settings.spread == "given":
            cohorts, behaviors = len(self.panel.cohorts), len(self.panel.behaviors)
            return Scatter.given(self.dispersion, cohorts, behaviors)
        return self._hindsight.scatter(self.predict)

    def past(self, horizon: int) -> PastDraws:
        """Paths drawn at past origins, against which intervals up to that horizon are held."""
        back = self._hindsight
        reach = back.reach(horizon)
        if reach not in self._drawn_before:
            rng, paths = np.random.default_rng(0), back.paths(reach)
            days = self._drawn(_counted, back.panel, back.origins, reach, rng, paths)
            self._drawn_before[reach] = back.beside(np.stack(days, 1))
        return self._drawn_before[reach]

    @cached_property
    def _drawn_before(self) -> dict[int, PastDraws]:
        return {}

    @cached_property
    def _hindsight(self) -> Hindsight:
        return Hindsight.of(self.panel, scored_days(self.split), self.first_origin)

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
    ) -> list[Kept]:
        """What is kept of every step ahead on paths from the origins, or of other futures."""
        pool, scatter = self.pool(panel, origins, horizon), self.scatter
        with computing():
            if futures is None:
                futures = [self.ahead(panel, origins, horizon)]
            if crowds is None:
                crowds = self.crowds
                carried = [self.carried(n, origins) for n in range(len(crowds))]
            else:
                carried = [
                    self._at_origins(states_at_dawn(crowd, *self._recorded), origins)
                    for crowd in crowds
                ]
            size = len(futures) * len(origins) * panel.patterns[0].size
            at_once = paths_at_once(paths, len(crowds), size)
            turns = []
            for _ in range(0, paths, at_once):
                days = drawn_futures(
                    crowds, carried, futures, pool, scatter, rng, min(at_once, paths)
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

    @property
    def dispersion(self) -> float:
        return self.settings.dispersion

    @property
    def first_origin(self) -> int:
        """The day before the first training day: nothing is carried into that one."""
        return max(self.split.first - 1, 0)

    def carried(self, number: int, origins: Int[np.ndarray, " origin"]) -> State:
        return self._at_origins(self.states[number], origins)

    def _at_origins(self, states: State, origins: Int[np.ndarray, " origin"]) -> State:
        at = jnp.asarray(origins + 1 - self.split.first)
        return jax.tree.map(lambda x: x[at], states)

    def ahead(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> list[Inputs]:
        return days_ahead(panel, self.features, origins, horizon)

    @cached_property
    def states(self) -> tuple[State, ...]:
        """Each seed's state at the beginning of every day from the first training day on,
        the day after the last counted one included."""
        with computing():
            return tuple(states_at_dawn(crowd, *self._recorded) for crowd in self.crowds)

    @cached_property
    def _recorded(self) -> tuple[Inputs, Outcomes]:
        """Every counted day from the first training day on."""
        with computing():
            days = (self.split.first, self.panel.days)
            return recorded_days(self.panel, self.features, *days, self.settings.dispersion)

    def with_nodes(self, nodes: int) -> "Fit":
        """The same parameters integrated at `nodes` nodes per component and dimension."""
        return self.with_crowds([crowd.with_nodes(nodes) for crowd in self.crowds], nodes=nodes)

    def with_crowds(self, crowds: Sequence[Crowd], **changed: Any) -> "Fit":
        """The same training with other parameters, and the settings that these change."""
        runs = tuple(
            replace(run, parameters=crowd) for run, crowd in zip(self.runs, crowds, strict=True)
        )
        return replace(self, settings=replace(self.settings, **changed), runs=runs)

    def update(self, panel: Panel) -> "Fit":
        """The same fit with newer counts: states and anchor move at once, nothing is trained.

        Args:
            panel: the whole table again, later days included, or only the days since; those
                that are known already are replaced.
        """
        if panel.dates[0] == self.panel.dates[0]:
            return self._with_panel(panel)
        return replace(self, panel=continued(self.panel, panel))

    def _with_panel(self, panel: Panel) -> "Fit":
        same = ("units", "cohorts", "behaviors", "feature_names", "period")
        for name in same:
            if getattr(panel, name) != getattr(self.panel, name):
                raise InputError(
                    f"{name} of the new panel are {getattr(panel, name)}, the fit has "
                    f"{getattr(self.panel, name)}; make the panel the same way."
                )
        return replace(self, panel=sized_like(panel, self.panel))

    def tables(self) -> dict[str, pl.DataFrame]:
        anchor = {} if self.anchor is None else {"Forecasts": anchor_table(self.anchor)}
        return {
            **super().tables(),
            **anchor,
            "Response types": self.population("polars"),
            "Dynamics": self.dynamics("polars"),
        }

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        facts, tensors = super().stored()
        anchor, weights = anchor_stored(self.anchor)
        about = {"settings": self.settings.as_dict(), "anchor": anchor, **facts}
        return about, {**tensors, **weights}

    @classmethod
    def restored(cls, facts: dict[str, Any], tensors: Tensors) -> "Fit":
        panel, split, maker = forecaster_data(facts, tensors)
        settings = Settings(**declared.part(facts, "settings"))
        shape = shape_of(settings, panel, maker)
        with computing():
            template = blank_crowd(settings, shape, tensors)
            runs = restored_runs(facts["runs"], tensors, template)
        for run in runs:
            run.parameters.effort.curve(shape.cohorts).refuse_impossible()
        return cls(panel, split, maker, runs, settings, anchor_restored(facts, tensors, panel))


def _only(futures: DrawnDays) -> Int[np.ndarray, "path origin unit cohort pattern"]:
    """The counts of the one future there is."""
    return futures[0]


def _counted(futures: DrawnDays) -> Int[np.ndarray, "path origin unit cohort counted"]:
    """Arrivals and behaviours of the one future there is, in half the memory."""
    return counted_series(futures[0]).astype(np.int32)
