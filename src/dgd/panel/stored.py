"""A panel as the facts and tensors of a file."""

from dataclasses import asdict
from typing import Any

import numpy as np

from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.panel.contexts import EventCounts
from dgd.panel.everyone import Everyone
from dgd.panel.grids import LARGEST_EFFORT, LARGEST_SIZE, SMALLEST_SIZE, Columns
from dgd.panel.panel import Panel
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.special_days import NO_SPECIAL_DAYS, SpecialDays
from dgd.tables.checks import LARGEST_COUNT, LARGEST_VALUE, MAX_BEHAVIORS
from dgd.tables.frames import EAGER_KINDS
from dgd.tables.periods import PERIODS, period_named

MOST_DAYS = 1_000_000
"""Periods of a panel that a file may claim: more than a century of hours."""


def panel_stored(panel: Panel) -> tuple[dict[str, Any], Tensors]:
    """Everything of `panel` that a file must keep."""
    return _panel_facts(panel), _panel_tensors(panel)


def _panel_tensors(panel: Panel) -> Tensors:
    """Counts are kept sparse, and what is the same along an axis is kept once."""
    places = panel.counts.places
    order = np.argsort(places)
    return {
        "panel/indices": places[order],
        "panel/counts": panel.counts.count[order],
        "panel/size": _once(panel.size),
        "panel/effort": _once(panel.effort),
        "panel/features": _once(panel.features),
        **_event_tensors(panel.events),
        **({} if panel.everyone is None else {"panel/everyone": panel.everyone.patterns}),
        **_newcomer_tensors(panel),
    }


def _newcomer_tensors(panel: Panel) -> Tensors:
    """When units were first seen, where some came after the fit."""
    found: Tensors = {} if panel.since is None else {"panel/since": panel.since}
    if panel.everyone is not None and panel.everyone.people is not None:
        found["panel/people"] = panel.everyone.people
    return found


def _once(grid: np.ndarray) -> np.ndarray:
    """The grid with a length of 1 along those of its first three axes that change nothing."""
    for axis in range(3):
        first = grid.take([0], axis)
        if np.array_equal(grid, np.broadcast_to(first, grid.shape)):
            grid = first
    return np.ascontiguousarray(grid)


def _spread(
    tensors: Tensors, name: str, shape: tuple[int, ...], least: float, most: float
) -> np.ndarray:
    """What `_once` kept, on the whole grid again."""
    found = tensors[name]
    kept = [1 if at < 3 and length == 1 else shape[at] for at, length in enumerate(found.shape)]
    return np.broadcast_to(declared.tensor(tensors, name, kept, least, most), shape)


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
        "shape": panel.counts.shape,
        "days": panel.days,
        "known_days": len(panel.known_dates),
        "units_of_all": None if panel.everyone is None else panel.everyone.units,
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
        **({"special_days": panel.special_days.stored()} if panel.special_days else {}),
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
    days = declared.whole(facts, "days", 1, MOST_DAYS)
    known = declared.whole(facts, "known_days", days, MOST_DAYS)
    shape = (days, *cells, 2 ** len(behaviors))
    if facts["shape"] != list(shape):
        raise ValueError("shape of the panel is not that of its days and labels")
    return Panel(
        counts=_counts(tensors, shape),
        size=_spread(tensors, "panel/size", (days, *cells), SMALLEST_SIZE, LARGEST_SIZE),
        effort=_spread(tensors, "panel/effort", (known, *cells), 0, LARGEST_EFFORT),
        features=_spread(
            tensors,
            "panel/features",
            (known, *cells, len(features)),
            -LARGEST_VALUE,
            LARGEST_VALUE,
        ),
        known_dates=period.range(period.parse(facts["first"], "first"), known),
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
        everyone=_everyone(facts, tensors, shape),
        since=_since(tensors, len(units)),
        special_days=_special_days(facts),
    )


def _since(tensors: Tensors, units: int) -> np.ndarray | None:
    if "panel/since" not in tensors:
        return None
    return declared.tensor(tensors, "panel/since", [units], 0, MOST_DAYS, kind="i")


def _special_days(facts: dict[str, Any]) -> SpecialDays:
    """Those of the file; files that were written without any say nothing of them."""
    if "special_days" not in facts:
        return NO_SPECIAL_DAYS
    return SpecialDays.restored(declared.part(facts, "special_days"))


def _everyone(
    facts: dict[str, Any], tensors: Tensors, shape: tuple[int, int, int, int]
) -> Everyone | None:
    if facts["units_of_all"] is None:
        return None
    days, units, cohorts, patterns = shape
    counted = declared.tensor(
        tensors, "panel/everyone", [days, cohorts, patterns], 0, LARGEST_COUNT, kind="i"
    )
    people = None
    if "panel/people" in tensors:
        most = LARGEST_SIZE * LARGEST_COUNT
        people = declared.tensor(tensors, "panel/people", [days, cohorts], 0, most)
    number = declared.whole(facts, "units_of_all", units, LARGEST_COUNT)
    return Everyone(counted, number, people)


def _counts(tensors: Tensors, shape: tuple[int, int, int, int]) -> PatternCounts:
    places, counts = declared.sparse_places(tensors, "panel", shape, LARGEST_COUNT)
    day, unit, cohort, pattern = np.unravel_index(places, shape)
    return PatternCounts.of_rows(shape, day, unit, cohort, pattern, counts)


def _columns(facts: dict[str, Any]) -> Columns:
    named = declared.part(facts, "columns")
    if not all(isinstance(name, str) for name in named.values()):
        raise ValueError("columns are not all texts")
    return Columns(**named)
