"""Model files: everything a forecast needs in one file.

The panel, the features' measures, the settings and every seed's parameters,
as a tensor file (see `dgd.tensor_files`).
"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from dgd.files.tensors import (
    FIT,
    FORMAT,
    incomplete,
    read_run,
    read_tensors,
    run_facts,
    run_tensors,
    write_atomically,
    write_tensors,
)
from dgd.learning.settings import Settings
from dgd.learning.starts import Shape, Start
from dgd.model.feedback import Reference
from dgd.model.model import Model
from dgd.panel.contexts import EventCounts
from dgd.panel.features import FeatureMaker, Scaling
from dgd.panel.grids import Columns
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.runtime import computing
from dgd.tables.periods import period_named

if TYPE_CHECKING:
    from dgd.fit import Fit

__all__ = ["FORMAT", "load", "save", "write_atomically"]


def save(fit: "Fit", path: str | Path) -> None:
    """Write `fit` to `path` atomically."""
    panel = fit.panel
    tensors = {**_panel_tensors(panel), **_maker_tensors(fit.features), **run_tensors(fit.runs)}
    about = {
        "settings": fit.settings.as_dict(),
        "split": asdict(fit.split),
        "panel": _panel_facts(panel),
        "features": {"calendar": fit.features.calendar, "retention": fit.features.retention},
        "runs": run_facts(fit.runs),
    }
    write_tensors(path, FIT, about, tensors)


def load(path: str | Path) -> "Fit":
    """Read a file written by `Fit.save`; forecasts are the same as before saving."""
    from dgd.fit import Fit

    path = Path(path)
    about, tensors = read_tensors(path, FIT)
    try:
        panel = _panel(about["panel"], tensors)
        settings = Settings(**about["settings"])
        maker = _maker(about["features"], tensors)
        with computing():
            template = _template(settings, panel, maker)
            runs = tuple(read_run(facts, tensors, template) for facts in about["runs"])
        return Fit(settings, panel, Split(**about["split"]), maker, runs)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise incomplete(path, error) from error


def _template(settings: Settings, panel: Panel, maker: FeatureMaker) -> Model:
    """A model of the right shape, to be filled from the file."""
    units, cohorts, behaviors = len(panel.units), len(panel.cohorts), len(panel.behaviors)
    shape = Shape(
        units, cohorts, behaviors, len(maker.names(panel)),
        settings.components, settings.dim, settings.nodes, maker.context_scaling.center.size,
    )  # fmt: skip
    reference = Reference(
        jnp.zeros((units, cohorts)), jnp.zeros((cohorts, behaviors)), jnp.zeros(cohorts)
    )
    pairs = behaviors * (behaviors - 1) // 2
    start = Start(
        reference,
        np.zeros((cohorts, behaviors)),
        np.zeros(pairs),
        settings.initial_scale,
        settings.population,
        settings.dynamics,
        settings.readout,
        settings.supervision,
    )
    return start.model(shape, seed=0)


def _panel_tensors(panel: Panel) -> dict[str, np.ndarray]:
    """Counts are kept sparse: most patterns of most cells never occur."""
    places = np.nonzero(panel.patterns.ravel())[0]
    return {
        "panel/places": places,
        "panel/counts": panel.patterns.ravel()[places],
        "panel/size": panel.size,
        "panel/effort": panel.effort,
        "panel/features": panel.features,
        **_event_tensors(panel.events),
    }


def _event_tensors(events: EventCounts | None) -> dict[str, np.ndarray]:
    if events is None:
        return {}
    places = np.nonzero(events.patterns.ravel())[0]
    return {
        "events/cell": events.cell,
        "events/context": events.context,
        "events/places": places,
        "events/counts": events.patterns.ravel()[places],
    }


def _events(facts: dict[str, Any], tensors: dict[str, np.ndarray]) -> EventCounts | None:
    names = tuple(facts.get("context", ()))
    if not names:
        return None
    cell = tensors["events/cell"]
    patterns = np.zeros((len(cell), facts["shape"][-1]), np.int64)
    patterns.ravel()[tensors["events/places"]] = tensors["events/counts"]
    return EventCounts(names, cell, tensors["events/context"], patterns)


def _panel_facts(panel: Panel) -> dict[str, Any]:
    return {
        "shape": panel.patterns.shape,
        "first": str(panel.known_dates[0]),
        "period": panel.period.name,
        "units": panel.units,
        "cohorts": panel.cohorts,
        "behaviors": panel.behaviors,
        "feature_names": panel.feature_names,
        "sized": panel.sized,
        "has_effort": panel.has_effort,
        "columns": asdict(panel.columns),
        "kind": panel.kind,
        "context": () if panel.events is None else panel.events.names,
    }


def _panel(facts: dict[str, Any], tensors: dict[str, np.ndarray]) -> Panel:
    period = period_named(facts["period"])
    patterns = np.zeros(facts["shape"], np.int64)
    patterns.ravel()[tensors["panel/places"]] = tensors["panel/counts"]
    effort = tensors["panel/effort"]
    return Panel(
        patterns=patterns,
        size=tensors["panel/size"],
        effort=effort,
        features=tensors["panel/features"],
        known_dates=period.range(period.parse(facts["first"], "first"), len(effort)),
        units=tuple(facts["units"]),
        cohorts=tuple(facts["cohorts"]),
        behaviors=tuple(facts["behaviors"]),
        feature_names=tuple(facts["feature_names"]),
        period=period,
        sized=facts["sized"],
        has_effort=facts["has_effort"],
        columns=Columns(**facts["columns"]),
        kind=facts["kind"],
        events=_events(facts, tensors),
    )


def _maker_tensors(maker: FeatureMaker) -> dict[str, np.ndarray]:
    return {
        "features/first_arrivals": maker.first_arrivals,
        "features/first_behaviors": maker.first_behaviors,
        "features/rates": maker.rates,
        "features/known_center": maker.known_scaling.center,
        "features/known_scale": maker.known_scaling.scale,
        "features/summary_center": maker.summary_scaling.center,
        "features/summary_scale": maker.summary_scaling.scale,
        "features/context_center": maker.context_scaling.center,
        "features/context_scale": maker.context_scaling.scale,
    }


def _maker(facts: dict[str, Any], tensors: dict[str, np.ndarray]) -> FeatureMaker:
    return FeatureMaker(
        calendar=facts["calendar"],
        retention=facts["retention"],
        first_arrivals=tensors["features/first_arrivals"],
        first_behaviors=tensors["features/first_behaviors"],
        rates=tensors["features/rates"],
        known_scaling=Scaling(tensors["features/known_center"], tensors["features/known_scale"]),
        summary_scaling=Scaling(
            tensors["features/summary_center"], tensors["features/summary_scale"]
        ),
        # Files of format 1 know nothing of contexts.
        context_scaling=Scaling(
            tensors.get("features/context_center", np.zeros(0)),
            tensors.get("features/context_scale", np.ones(0)),
        ),
    )
