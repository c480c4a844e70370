"""Fit: what training left behind, ready to forecast."""

from collections.abc import Sequence
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
from dgd.errors import InputError
from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.forecasting.forecast import Forecast
from dgd.forecasting.predictive import Predictive
from dgd.forecasting.protocol import refuse_horizon
from dgd.forecasting.rollout import states_at_dawn
from dgd.forecasting.trained_forecaster import forecaster_data
from dgd.forecasting.walking_forecaster import WalkingForecaster
from dgd.learning.building import first_crowd, shape_of
from dgd.learning.crowd_tables import dynamics_table, population_table
from dgd.learning.settings import Settings
from dgd.learning.sizing import sized_like
from dgd.learning.starts import Start
from dgd.learning.trained import restored_runs
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs
from dgd.model.feedback.feedback import State
from dgd.panel.continuing import continued
from dgd.panel.panel import Panel
from dgd.panel.sequences import days_ahead, recorded_days
from dgd.runtime import computing
from dgd.tables.frames import from_polars
from dgd.tables.periods import Moment


@dataclass(frozen=True, eq=False, repr=False)
class Fit(WalkingForecaster):
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
        return found if self.anchor is None else self.anchor.joined(found, panel, origins)

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
    ) -> Forecast:
        """Expected counts for each of the `horizon` days after `origin`.

        Args:
            origin: the last day whose counts are used; the panel's last by default.
            effort, features: for days past the panel, where it was made with such tables.
        """
        refuse_horizon(self.panel, horizon)
        panel = self.panel
        if effort is not None or features is not None:
            panel = panel.with_future(effort, features)
        day = panel.days - 1 if origin is None else panel.index(origin, "origin")
        expected = self.predict(np.array([day]), horizon, panel).averaged()
        dates = panel.period.range(panel.dates[day], horizon + 1)[1:]
        return Forecast(
            panel, panel.dates[day], dates, expected.arrivals[0, :, 0], expected.patterns[0, :, 0]
        )

    @property
    def dispersion(self) -> float:
        return self.settings.dispersion

    @property
    def first_origin(self) -> int:
        """The day before the first training day: nothing is carried into that one."""
        return max(self.split.first - 1, 0)

    def carried(self, number: int, origins: Int[np.ndarray, " origin"]) -> State:
        at = jnp.asarray(origins + 1 - self.split.first)
        return jax.tree.map(lambda x: x[at], self.states[number])

    def ahead(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> list[Inputs]:
        return days_ahead(panel, self.features, origins, horizon)

    @cached_property
    def states(self) -> tuple[State, ...]:
        """Each seed's state at the beginning of every day from the first training day on,
        the day after the last counted one included."""
        with computing():
            days = recorded_days(
                self.panel,
                self.features,
                self.split.first,
                self.panel.days,
                self.settings.dispersion,
            )
            return tuple(states_at_dawn(crowd, *days) for crowd in self.crowds)

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

    def population(self, kind: str | None = None) -> Any:
        """One row per seed, cohort and response type: share, mean and spread."""
        table = population_table(self.crowds, self.seeds, self.panel.cohorts)
        return from_polars(table, kind or self.panel.kind)

    def dynamics(self, kind: str | None = None) -> Any:
        """One row per seed and factor: how much of each state a day carries over or corrects."""
        return from_polars(dynamics_table(self.crowds, self.seeds), kind or self.panel.kind)

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
            template = first_crowd(settings, shape, Start.blank(shape), seed=0)
            runs = restored_runs(facts["runs"], tensors, template)
        return cls(panel, split, maker, runs, settings, anchor_restored(facts, tensors, panel))
