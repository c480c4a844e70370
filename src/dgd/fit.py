"""Fit: what training left behind, ready to forecast."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, Int
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.forecasting.forecast import Forecast, average, expected_path, states_at_dawn
from dgd.learning.crowd_tables import dynamics_table, population_table
from dgd.learning.loop import Run
from dgd.learning.run_tables import history_table, summary_table
from dgd.learning.seeds import Seeded
from dgd.learning.settings import Settings
from dgd.model.feedback import State
from dgd.model.model import Model
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.sequences import days_ahead, recorded_days
from dgd.panel.split import Split
from dgd.runtime import computing
from dgd.tables.frames import from_polars
from dgd.tables.periods import Moment


@dataclass(frozen=True, eq=False)
class Fit(Seeded):
    """A fitted model: one parameter set per seed, with the panel it was fitted on."""

    settings: Settings
    panel: Panel
    split: Split
    features: FeatureMaker
    runs: tuple[Run, ...]

    @property
    def models(self) -> tuple[Model, ...]:
        return tuple(run.parameters for run in self.runs)

    @property
    def count_distribution(self) -> float:
        """Dispersion r of the negative binomial around expected arrivals."""
        return self.settings.dispersion

    def forecast(
        self,
        horizon: int,
        *,
        origin: Moment | None = None,
        effort: IntoFrame | None = None,
        features: IntoFrame | None = None,
    ) -> Forecast:
        """Expected counts for each of the `horizon` days after `origin`.

        **Arguments:**

        - `origin`: the last day whose counts are used; the panel's last by default.
        - `effort`, `features`: for days past the panel, where it was made with such tables.
        """
        panel = self.panel
        if effort is not None or features is not None:
            panel = panel.with_future(effort, features)
        day = panel.days - 1 if origin is None else panel.place(origin, "origin")
        arrivals, patterns = self.predict(np.array([day]), horizon, panel)
        mean_arrivals, mean_patterns = average(arrivals[:, :, 0], patterns[:, :, 0])
        dates = panel.period.range(panel.dates[day], horizon + 1)[1:]
        return Forecast(panel, panel.dates[day], dates, mean_arrivals, mean_patterns)

    def predict(
        self, origins: Int[np.ndarray, " origin"], horizon: int, panel: Panel | None = None
    ) -> tuple[
        Float[np.ndarray, "seed step origin unit cohort"],
        Float[np.ndarray, "seed step origin unit cohort pattern"],
    ]:
        """Arrivals and joint probabilities of each seed, for many origins (day numbers) at once."""
        panel = panel or self.panel
        if horizon < 1:
            raise InputError(f"horizon is {horizon}; ask for at least one {panel.period.name}.")
        early = origins[origins < self.split.first - 1]
        if len(early):
            raise InputError(
                f"origin {panel.dates[early[0]]} lies before the first training day "
                f"{panel.dates[self.split.first]}; choose a later one."
            )
        with computing():
            ahead = days_ahead(panel, self.features, origins, horizon)
            paths = []
            for model, states in zip(self.models, self.states, strict=True):
                at = origins + 1 - self.split.first
                state = jax.tree.map(lambda x, at=at: x[at], states)
                paths.append(expected_path(model, state, ahead))
            arrivals = np.array([[np.asarray(p.arrivals) for p in path] for path in paths])
            patterns = np.array([[np.asarray(p.patterns) for p in path] for path in paths])
        return arrivals, np.moveaxis(patterns, 2, -1)

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
            return tuple(states_at_dawn(model, *days) for model in self.models)

    def with_nodes(self, nodes: int) -> "Fit":
        """The same parameters integrated at `nodes` nodes per component and dimension."""
        return self.with_models([model.with_nodes(nodes) for model in self.models], nodes=nodes)

    def with_models(self, models: Sequence[Model], **changed: Any) -> "Fit":
        """The same training with other parameters, and the settings that these change."""
        runs = [
            replace(run, parameters=model) for run, model in zip(self.runs, models, strict=True)
        ]
        settings = replace(self.settings, **changed)
        return Fit(settings, self.panel, self.split, self.features, tuple(runs))

    def with_panel(self, panel: Panel) -> "Fit":
        """The same parameters on a panel with more days: forecasts start from its counts."""
        same = ("units", "cohorts", "behaviors", "feature_names", "period")
        for name in same:
            if getattr(panel, name) != getattr(self.panel, name):
                raise InputError(
                    f"{name} of the new panel are {getattr(panel, name)}, the fit has "
                    f"{getattr(self.panel, name)}; make the panel the same way."
                )
        if panel.dates[0] != self.panel.dates[0]:
            raise InputError(
                f"the new panel starts on {panel.dates[0]}, the fit's on {self.panel.dates[0]}; "
                "keep the earlier days in it."
            )
        return Fit(self.settings, panel, self.split, self.features, self.runs)

    def history(self, kind: str | None = None) -> Any:
        """One row per seed and epoch: training and validation objective."""
        return from_polars(history_table(self.runs), kind or self.panel.kind)

    def summary(self, kind: str | None = None) -> Any:
        """One row per seed: the epoch kept, its validation objective, why training ended."""
        return from_polars(summary_table(self.runs), kind or self.panel.kind)

    def population(self, kind: str | None = None) -> Any:
        """One row per seed, cohort and response type: share, mean and spread."""
        table = population_table(self.models, self.seeds, self.panel.cohorts)
        return from_polars(table, kind or self.panel.kind)

    def dynamics(self, kind: str | None = None) -> Any:
        """One row per seed and factor: how much of each state a day carries over or corrects."""
        return from_polars(dynamics_table(self.models, self.seeds), kind or self.panel.kind)

    def save(self, path: str | Path) -> None:
        """Write everything to one file, whole or not at all."""
        from dgd.storage import save

        save(self, path)

    def __repr__(self) -> str:
        best = min(self.runs, key=lambda run: run.best_objective)
        return (
            f"Fit({len(self.runs)} seeds on {self.panel!r}, best validation objective "
            f"{best.best_objective:.4f} at epoch {best.best_epoch})"
        )
