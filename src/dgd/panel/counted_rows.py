"""The counts of a panel as the long table they were read from."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl

from dgd.model.bits import behavior_bits
from dgd.panel.contexts import EventCounts
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.shown import Told


@runtime_checkable
class Tabled(Told, Protocol):
    """Of a panel, what its rows are made of."""

    @property
    def counts(self) -> PatternCounts: ...
    @property
    def dates(self) -> np.ndarray: ...


def rows_of_counts(panel: Tabled) -> pl.DataFrame:
    """One row per date, unit, cohort, context and joint pattern that occurred, in this order."""
    day, unit, cohort, context, pattern, count = _occurred(panel.counts, panel.events)
    bits = behavior_bits(len(panel.behaviors)).astype(np.int64)
    return pl.DataFrame(
        [
            panel.period.series(panel.columns.date, panel.dates[day]),
            pl.Series(panel.columns.unit, panel.units)[unit],
            pl.Series(panel.columns.cohort, panel.cohorts)[cohort],
            *(pl.Series(name, values) for name, values in context.items()),
            *(pl.Series(b, bits[pattern, h]) for h, b in enumerate(panel.behaviors)),
            pl.Series(panel.columns.count, count),
        ]
    )


def _occurred(
    counts: PatternCounts, events: EventCounts | None
) -> tuple[Any, Any, Any, dict[str, np.ndarray], Any, Any]:
    """Day, unit, cohort, context, pattern and count of everything that occurred."""
    if events is None:
        order = np.argsort(counts.places)
        day, unit, cohort = (part[order] for part in (counts.day, counts.unit, counts.cohort))
        return day, unit, cohort, {}, counts.pattern[order], counts.count[order]
    group, pattern = np.nonzero(events.patterns)
    context = {name: events.context[group, at] for at, name in enumerate(events.names)}
    return *events.cell[group].T, context, pattern, events.patterns[group, pattern]
