"""A panel as the facts and tensors of a file."""

from dataclasses import asdict
from typing import Any

import numpy as np

from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.panel.contexts import EventCounts
from dgd.panel.grids import LARGEST_EFFORT, LARGEST_SIZE, SMALLEST_SIZE, Columns
from dgd.panel.panel import Panel
from dgd.tables.checks import LARGEST_COUNT, LARGEST_VALUE, MAX_BEHAVIORS
from dgd.tables.frames import EAGER_KINDS
from dgd.tables.periods import PERIODS, period_named


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


def _events(facts: dict[str, Any], tensors: Tensors, shape: tuple[int, ...]) -> EventCounts | None:
    names = declared.texts(facts, "context")
    if not names:
        return None
    cell = declared.tensor(tensors, "events/cell", [None, 3], 0, kind="i")
    if np.any(cell >= np.array(shape[:3])):
        raise ValueError("events/cell names a cell outside the panel")
    groups = len(cell)
    context = declared.tensor(
        tensors, "events/context", [groups, len(names)], -LARGEST_VALUE, LARGEST_VALUE
    )
    patterns = declared.sparse(tensors, "events", (groups, shape[3]), LARGEST_COUNT)
    return EventCounts(names, cell, context, patterns)


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
    """The panel that `panel_stored` describes, every part held against every other."""
    period = period_named(declared.choice(facts, "period", list(PERIODS)))
    units, cohorts = declared.labels(facts, "units"), declared.labels(facts, "cohorts")
    behaviors = declared.texts(facts, "behaviors")
    features = declared.texts(facts, "feature_names")
    if not 1 <= len(behaviors) <= MAX_BEHAVIORS:
        raise ValueError(f"behaviors are {len(behaviors)}, not 1 to {MAX_BEHAVIORS}")
    cells = (len(units), len(cohorts))
    size = declared.tensor(tensors, "panel/size", (None, *cells), SMALLEST_SIZE, LARGEST_SIZE)
    effort = declared.tensor(tensors, "panel/effort", (None, *cells), 0, LARGEST_EFFORT)
    shape = (len(size), *cells, 2 ** len(behaviors))
    if facts["shape"] != list(shape) or not 1 <= len(size) <= len(effort):
        raise ValueError("shape of the panel is not that of its sizes, efforts and labels")
    return Panel(
        patterns=declared.sparse(tensors, "panel", shape, LARGEST_COUNT),
        size=size,
        effort=effort,
        features=declared.tensor(
            tensors,
            "panel/features",
            (len(effort), *cells, len(features)),
            -LARGEST_VALUE,
            LARGEST_VALUE,
        ),
        known_dates=period.range(period.parse(facts["first"], "first"), len(effort)),
        units=units,
        cohorts=cohorts,
        behaviors=behaviors,
        feature_names=features,
        period=period,
        sized=declared.choice(facts, "sized", (True, False)),
        has_effort=declared.choice(facts, "has_effort", (True, False)),
        columns=_columns(facts),
        kind=declared.choice(facts, "kind", EAGER_KINDS),
        events=_events(facts, tensors, shape),
    )


def _columns(facts: dict[str, Any]) -> Columns:
    named = declared.part(facts, "columns")
    if not all(isinstance(name, str) for name in named.values()):
        raise ValueError("columns are not all texts")
    return Columns(**named)
