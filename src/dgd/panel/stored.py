"""A panel as the facts and tensors of a file."""

from dataclasses import asdict
from typing import Any

import numpy as np

from dgd.files.tensors import Tensors
from dgd.panel.contexts import EventCounts
from dgd.panel.grids import Columns
from dgd.panel.panel import Panel
from dgd.tables.periods import period_named


def panel_stored(panel: Panel) -> tuple[dict[str, Any], Tensors]:
    """Everything of `panel` that a file must keep."""
    return _panel_facts(panel), _panel_tensors(panel)


def _panel_tensors(panel: Panel) -> Tensors:
    """Counts are kept sparse: most patterns of most cells never occur."""
    indices = np.nonzero(panel.patterns.ravel())[0]
    return {
        "panel/indices": indices,
        "panel/counts": panel.patterns.ravel()[indices],
        "panel/size": panel.size,
        "panel/effort": panel.effort,
        "panel/features": panel.features,
        **_event_tensors(panel.events),
    }


def _event_tensors(events: EventCounts | None) -> Tensors:
    if events is None:
        return {}
    indices = np.nonzero(events.patterns.ravel())[0]
    return {
        "events/cell": events.cell,
        "events/context": events.context,
        "events/indices": indices,
        "events/counts": events.patterns.ravel()[indices],
    }


def _events(facts: dict[str, Any], tensors: Tensors) -> EventCounts | None:
    names = tuple(facts["context"])
    if not names:
        return None
    cell = tensors["events/cell"]
    patterns = np.zeros((len(cell), facts["shape"][-1]), np.int64)
    patterns.ravel()[tensors["events/indices"]] = tensors["events/counts"]
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


def panel_from(facts: dict[str, Any], tensors: Tensors) -> Panel:
    """The panel that `panel_stored` describes."""
    period = period_named(facts["period"])
    patterns = np.zeros(facts["shape"], np.int64)
    patterns.ravel()[tensors["panel/indices"]] = tensors["panel/counts"]
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
