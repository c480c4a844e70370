"""The days ahead as they are planned: effort, sizes and features, known or carried on.

Where a fit has effort or features and none are known for a day ahead, those of the cycle before
are repeated: the same weekday, the same hour of the week, the last week of a table by weeks.
"""

from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.forecasting.protocol import refuse_horizon, refuse_origins
from dgd.model.days import Inputs
from dgd.panel.continuing import CYCLES, repeated
from dgd.panel.features import FeatureMaker, season_loadings
from dgd.panel.panel import Panel
from dgd.scenarios.planned_fit import ExpectingFit
from dgd.tables.periods import Moment


@dataclass(frozen=True, eq=False)
class Future:
    """What is put into the days ahead."""

    effort: Float[np.ndarray, "step unit cohort"]
    size: Float[np.ndarray, "step unit cohort"]
    features: Float[np.ndarray, "step unit cohort own"]
    """As the user gives them, in the order of the panel's names."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """The days after an origin, and the future that is planned for them now."""

    panel: Panel
    """Knows effort and features of every day ahead."""
    day: int
    """The origin's day number."""
    dates: np.ndarray
    """The days ahead."""
    planned: Future
    notes: tuple[str, ...]
    """What was assumed of the days ahead."""

    @property
    def origin(self) -> np.datetime64:
        return np.datetime64(self.panel.dates[self.day])

    @property
    def horizon(self) -> int:
        return len(self.dates)

    def first(self, steps: int) -> "Outlook":
        """The same for the first days alone."""
        own = self.planned
        near = Future(own.effort[:steps], own.size[:steps], own.features[:steps])
        return replace(self, dates=self.dates[:steps], planned=near)

    def inputs(self, maker: FeatureMaker, future: Future) -> Inputs:
        """The days ahead as the model sees them; summaries stay as they stand at the origin."""
        summaries = maker.summaries(self.panel)[self.day + 1]
        return Inputs(
            jnp.asarray(maker.known(self.panel, self.dates, future.features)),
            jnp.asarray(np.broadcast_to(summaries, (self.horizon, *summaries.shape))),
            jnp.asarray(future.size),
            jnp.asarray(future.effort),
            jnp.asarray(season_loadings(self.panel, self.dates)),
        )

    @staticmethod
    def of(
        fit: ExpectingFit,
        horizon: int,
        origin: Moment | None = None,
        effort: IntoFrame | None = None,
        features: IntoFrame | None = None,
    ) -> "Outlook":
        """The `horizon` days after `origin`, as given, as known, or as the last cycle was."""
        refuse_some_units(fit.panel)
        refuse_horizon(fit.panel, horizon)
        day = fit.panel.days - 1 if origin is None else fit.panel.index(origin, "origin")
        refuse_origins(fit.panel, np.array([day]), horizon, fit.first_origin)
        known = _given(fit.panel, effort, features)
        panel, notes = _known_through(fit.panel, known, day + horizon + 1)
        ahead = slice(day + 1, day + 1 + horizon)
        size = np.broadcast_to(
            panel.size[min(day + 1, panel.days - 1)], (horizon, *panel.size.shape[1:])
        )
        future = Future(panel.effort[ahead].copy(), size.copy(), panel.features[ahead].copy())
        return Outlook(panel, day, panel.known_dates[ahead], future, notes)


def refuse_some_units(panel: Panel) -> None:
    """Refuse another future of some units alone: what a change does, others answer to."""
    if panel.everyone is not None:
        raise InputError(
            f"{len(panel.units):,} of {panel.everyone.units:,} units are at hand; scenarios and "
            "plans need all of them: ask the fit of all units."
        )


def refuse_without_effort(panel: Panel, what: str) -> None:
    if not panel.has_effort:
        raise InputError(
            f"{what} needs effort, but the fit was made without it; make the panel with an effort "
            "table and fit again."
        )


def _given(
    panel: Panel, effort: IntoFrame | None, features: IntoFrame | None
) -> dict[str, np.ndarray]:
    """Effort and features with what the user gives for later days, as far as each table reaches."""
    efforts, known = panel.effort, panel.features
    if effort is not None:
        nothing = np.zeros((*panel.effort.shape, 0))
        alone = replace(panel, feature_names=(), features=nothing)
        efforts = alone.with_future(effort=effort).effort
    if features is not None:
        known = replace(panel, has_effort=False).with_future(features=features).features
    return {"effort": efforts, "features": known}


def _known_through(
    panel: Panel, given: dict[str, np.ndarray], stop: int
) -> tuple[Panel, tuple[str, ...]]:
    """The panel with effort and features of `stop` days, and what was repeated for it."""
    dates = panel.period.range(panel.dates[0], stop)
    notes = []
    parts = {}
    for name, has in (("effort", panel.has_effort), ("features", bool(panel.feature_names))):
        known = given[name]
        if has and len(known) < stop:
            notes.append(
                f"{name} from {dates[len(known)]} on {'is' if name == 'effort' else 'are'} not "
                f"known; {_cycle_words(panel)} {'is' if name == 'effort' else 'are'} repeated."
            )
        parts[name] = repeated(known, stop, CYCLES[panel.period.name])
    longer = replace(panel, known_dates=dates, effort=parts["effort"], features=parts["features"])
    return longer, tuple(notes)


def _cycle_words(panel: Panel) -> str:
    of_hours = "that of the same hour of the last week"
    words = {"hour": of_hours, "day": "that of the same weekday of the last week"}
    return words.get(panel.period.name, "that of the last week")
