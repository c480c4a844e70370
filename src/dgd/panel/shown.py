"""A panel as people read it: what was counted of every cohort, and what else is known."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import numpy as np
import polars as pl

from dgd.errors import few
from dgd.panel.contexts import EventCounts
from dgd.panel.grids import ARRIVALS, Columns
from dgd.panel.special_days import SpecialDays
from dgd.tables.labels import Label
from dgd.tables.periods import Period


@runtime_checkable
class Told(Protocol):
    """Of a panel, what is told."""

    @property
    def arrivals(self) -> np.ndarray: ...
    @property
    def behavior_counts(self) -> np.ndarray: ...
    @property
    def days(self) -> int: ...
    @property
    def known_dates(self) -> np.ndarray: ...
    @property
    def units(self) -> tuple[Label, ...]: ...
    @property
    def cohorts(self) -> tuple[Label, ...]: ...
    @property
    def behaviors(self) -> tuple[str, ...]: ...
    @property
    def feature_names(self) -> tuple[str, ...]: ...
    @property
    def period(self) -> Period: ...
    @property
    def sized(self) -> bool: ...
    @property
    def has_effort(self) -> bool: ...
    @property
    def columns(self) -> Columns: ...
    @property
    def events(self) -> EventCounts | None: ...
    @property
    def special_days(self) -> SpecialDays: ...


def cohort_totals(panel: Told) -> pl.DataFrame:
    """One row per cohort: arrivals and every behaviour, all days and units together."""
    arrivals = panel.arrivals.sum((0, 1))
    counts = panel.behavior_counts.sum((0, 1))
    return pl.DataFrame(
        [
            pl.Series(panel.columns.cohort, list(panel.cohorts)),
            pl.Series(ARRIVALS, arrivals),
            *(pl.Series(name, counts[:, h]) for h, name in enumerate(panel.behaviors)),
        ]
    )


def panel_in_sentences(panel: Told) -> Iterator[str]:
    """What else is known of the days, and what is missing."""
    yield f"Units: {few(panel.units)}. Behaviours: {few(panel.behaviors)}."
    given = {
        "reference sizes": panel.sized,
        "effort": panel.has_effort,
        f"features ({few(panel.feature_names)})": bool(panel.feature_names),
        "context of events": panel.events is not None,
    }
    known = [name for name, there in given.items() if there]
    yield f"Given: counts{''.join(f', {name}' for name in known)}."
    if panel.special_days:
        yield f"Special days: {panel.special_days.described(panel.known_dates[: panel.days])}."
    ahead = len(panel.known_dates) - panel.days
    if ahead:
        yield f"Known ahead: {ahead} {panel.period.name}s, up to {panel.known_dates[-1]}."
    empty = int((panel.arrivals.sum((1, 2)) == 0).sum())
    if empty:
        yield f"Without arrivals: {empty} {panel.period.name}{'s' if empty > 1 else ''}."
