"""Fit: what training left behind, ready to forecast."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Array, Int
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.forecasting.asked import Asked
from dgd.forecasting.calibration import Promise, checked_levels
from dgd.forecasting.drawing_forecaster import DrawingForecaster, counted_days
from dgd.forecasting.forecast import Forecast
from dgd.forecasting.predictive import Predictive
from dgd.forecasting.protocol import refuse_horizon, refuse_origins
from dgd.forecasting.ranges import Ranges
from dgd.forecasting.rollout import Led, states_at_dawn
from dgd.forecasting.scatter import Scatter
from dgd.forecasting.trained_forecaster import forecaster_data
from dgd.large.fitted_scores import FittedScores
from dgd.large.fitted_units import MEASURED_ON, Among, FittedUnits
from dgd.large.forecast_files import ForecastFiles
from dgd.large.forecast_of_all import ForecastOfAll
from dgd.learning.building import blank_crowd, shape_of
from dgd.learning.fitted_people import FittedPeople
from dgd.learning.more_units import crowd_with_new_units
from dgd.learning.seeds import checked_seeds
from dgd.learning.settings import Settings
from dgd.learning.trained import restored_runs
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Outcomes
from dgd.model.feedback.feedback import State
from dgd.panel.continuing import continued
from dgd.panel.panel import Panel
from dgd.panel.sequences import days_ahead, recorded_days
from dgd.panel.some_units import standing_for_all
from dgd.processes.group import ALONE, Group
from dgd.runtime import computing
from dgd.scenarios.fitted_scenarios import FittedScenarios
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label
from dgd.tables.periods import Moment

PATHS = 2000
"""Futures that are drawn where ranges are asked for."""
UNTRAINED = "levels, swings and seasons"
TRAINED = f"people, feedback, {UNTRAINED}"
"""What forecasts rest on."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit(DrawingForecaster, FittedUnits, FittedScores, FittedPeople, FittedScenarios):
    """A fitted model: one parameter set per seed, with the panel it was fitted on."""

    among: Among | None = None
    """The fit of all units, where these are some of them."""
    group: Group = ALONE
    """The processes that have the other units, where these are one process's own."""

    holds: ClassVar[str] = "fit"

    def predict(
        self, origins: Int[np.ndarray, " origin"], horizon: int, panel: Panel | None = None
    ) -> Predictive:
        """Arrivals and joint probabilities for many origins (day numbers) at once, and how far
        counts scatter around them.

        `panel` knows more of the future than the fit's own, where that is needed.
        """
        panel = panel or self.panel
        found = self.expected(origins, horizon, panel)
        found = found.with_dispersion(self.scatter.dispersion(horizon))
        sampler = partial(self._sample, panel, origins, horizon)
        return replace(found, sampler=sampler, promise=self._promise)

    def expected(
        self, origins: Int[np.ndarray, " origin"], horizon: int, panel: Panel | None = None
    ) -> Predictive:
        """What population, response and feedback expect, corrected by innovations."""
        panel = panel or self.panel
        if self.in_blocks:
            return self.predict_in_blocks(origins, horizon, panel)
        if self.among is not None and not self.among.whole.in_blocks:
            return self.predict_among(origins, horizon, panel)
        return super().predict(origins, horizon, panel)

    def led(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> Sequence[Led] | None:
        return self.led_by_all(panel, origins, horizon)

    @cached_property
    def scatter(self) -> Scatter:
        """How far days scatter around forecasts."""
        if self.in_blocks:
            return self.measured_scatter()
        return super().scatter

    def _promise(self, asked: Asked, group: Sequence[int], level: float, horizon: int) -> Promise:
        return self.past(horizon).promise(asked, group, level, horizon)

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
        units: Sequence[Label] | None = None,
    ) -> Forecast:
        """Expected counts for each of the `horizon` days after `origin`, and their ranges where
        `levels` asks for them.

        Args:
            origin: the last day whose counts are used; the panel's last by default.
            effort, features: for days past the panel, where it was made with such tables.
            levels: of the intervals, in per cent; without any, nothing is drawn.
            paths: how many futures are drawn, 2,000 by default.
            seed: the same seed draws the same paths.
            units: some of them, by label; all by default.
        """
        refuse_horizon(self.panel, horizon)
        levels, seed = checked_levels(levels), checked_seeds([seed])[0]
        if paths is None:
            paths = PATHS if levels else 0
        elif paths < 1:
            raise InputError(f"paths is {paths}; draw at least one.")
        known = self.knowing_more(effort, features)
        if units is not None or (known is not self and self.among is not None):
            some = known if units is None else known.of_units(units)
            return some.forecast(
                horizon, origin=origin, levels=levels, paths=paths or None, seed=seed
            )
        if paths:
            self.refuse_ranges()
        panel = known.panel
        day = panel.days - 1 if origin is None else panel.index(origin, "origin")
        expected = self.expected(np.array([day]), horizon, panel).averaged()
        dates = panel.period.range(panel.dates[day], horizon + 1)[1:]
        ranges = None
        if paths:
            rng = np.random.default_rng(seed)
            days = self._drawn(counted_days, panel, np.array([day]), horizon, rng, paths)
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

    def forecast_to(
        self,
        folder: str | os.PathLike[str],
        horizon: int,
        *,
        origin: Moment | None = None,
        effort: IntoFrame | None = None,
        features: IntoFrame | None = None,
        levels: Sequence[float] = (),
        partitions: int | None = None,
    ) -> dict[str, Any]:
        """Write the forecast of every unit as a data set: Parquet files in folders by a hash of
        the unit, with the rows of `Forecast.to_frame`, and a manifest that is written last.

        Very many units are walked block by block, and no table of all is ever made.

        Args:
            folder: where the data set is wanted; one that stands there is replaced when the new
                one is whole.
            origin, effort, features, levels: as in `forecast`; levels are drawn where all units
                can be looked at together.
            partitions: how many parts to make; 64 unless told.

        Returns:
            What the manifest says: dates, series, and rows and units of every part.
        """
        files = ForecastFiles.of(folder, partitions, self.panel, self.group)
        refuse_horizon(self.panel, horizon)
        if not self.in_blocks:
            whole = self.forecast(
                horizon, origin=origin, effort=effort, features=features, levels=levels
            )
            rows = whole.to_frame("polars")
            unit = np.indices(whole.arrivals.shape)[1].ravel()
            some = lambda units: rows.filter(np.isin(unit, units))  # noqa: E731
            return files.write(some, self.panel, whole.origin, whole.dates)
        if levels:
            self.refuse_ranges()
        known = self.knowing_more(effort, features)
        day = known.panel.days - 1 if origin is None else known.panel.index(origin, "origin")
        refuse_origins(known.panel, np.array([day]), horizon, self.first_origin)
        every = ForecastOfAll.walked(known, day, horizon)
        return files.write(every.table, self.panel, self.panel.dates[day], every.dates)

    @property
    def dispersion(self) -> float:
        return self.settings.dispersion

    @property
    def first_origin(self) -> int:
        """The day before the first training day: nothing is carried into that one."""
        return max(self.split.first - 1, 0)

    def carried(self, number: int, origins: Int[np.ndarray, " origin"]) -> State:
        if self.in_blocks:
            return self.state_of(number, np.arange(len(self.panel.units)), origins)
        return self._at_origins(self.states[number], origins)

    def carried_by(self, crowd: Crowd, origins: Int[np.ndarray, " origin"]) -> State:
        return self._at_origins(states_at_dawn(crowd, *self._recorded), origins)

    def _at_origins(self, states: State, origins: Int[np.ndarray, " origin"]) -> State:
        return _on(states, jnp.asarray(origins + 1 - self.split.first))

    def ahead(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> list[Inputs]:
        return days_ahead(panel, self.features, origins, horizon)

    @cached_property
    def states(self) -> tuple[State, ...]:
        """Each seed's state at the beginning of every day from the first training day on,
        the day after the last counted one included."""
        if self.among is not None or self.in_blocks:
            return self.states_in_blocks()
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
        """The same fit with newer counts: states move at once, nothing is trained.

        Args:
            panel: the whole table again, later days included, or only the days since; those
                that are known already are replaced. Units that the fit does not know begin as
                typical ones of their cohorts.
        """
        self.refuse_part("an update")
        newer = continued(self.panel, panel)
        if len(newer.units) == len(self.panel.units):
            return replace(self, panel=newer)
        size = newer.size[-1]
        with computing():
            crowds = [crowd_with_new_units(crowd, size) for crowd in self.crowds]
        features = self.features.with_new_units(size)
        return replace(self.with_crowds(crowds), panel=newer, features=features)

    def summary(self, kind: str | None = None) -> Any:
        """One row per seed: the epoch kept, its validation objective, why training ended and, where
        innovations are learned, what forecasts rest on: training is taken back where it did not
        help by more than chance (`evidence` says what each part is worth)."""
        table = super().summary("polars")
        if self.settings.innovations == "learned":
            kept = pl.col("epoch kept") > 0
            rests = pl.when(kept).then(pl.lit(TRAINED)).otherwise(pl.lit(UNTRAINED))
            table = table.with_columns(rests.alias("rests on"))
        return from_polars(table, kind or self.panel.kind)

    def evidence(self, kind: str | None = None) -> Any:
        if not self.in_blocks:
            return super().evidence(kind)
        units = standing_for_all(self.panel, MEASURED_ON, self.group)
        return self.of_units(units).evidence(kind)

    def tables(self) -> dict[str, pl.DataFrame]:
        return {
            **super().tables(),
            "Response types": self.population("polars"),
            "Dynamics": self.dynamics("polars"),
        }

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        facts, tensors = super().stored()
        return {"settings": self.settings.as_dict(), **facts}, tensors

    @classmethod
    def restored(cls, facts: dict[str, Any], tensors: Tensors) -> "Fit":
        panel, split, maker = forecaster_data(facts, tensors)
        settings = Settings(**declared.part(facts, "settings"))
        shape = shape_of(settings, panel, split, maker)
        with computing():
            template = blank_crowd(settings, shape, tensors)
            runs = restored_runs(facts["runs"], tensors, template)
        for run in runs:
            run.parameters.effort.curve(shape.cohorts).refuse_impossible()
        return cls(panel, split, maker, runs, settings)


@eqx.filter_jit
def _on(states: State, dates: Int[Array, " date"]) -> State:
    """The states of some dates, in one program."""
    found: State = jax.tree.map(lambda x: x[dates], states)
    return found
