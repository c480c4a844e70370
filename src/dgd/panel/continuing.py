"""A panel goes on: newer days are put behind those known already, or the last ones repeated."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dgd.errors import InputError, few
from dgd.panel.contexts import EventCounts
from dgd.panel.panel import Panel
from dgd.tables.labels import Label

CYCLES = {"hour": 168, "day": 7, "week": 1}
"""After how many periods days are alike again."""


def continued(earlier: Panel, later: Panel) -> Panel:
    """`earlier` up to the day before `later` begins, then `later`.

    Days that both hold are those of `later`, so that corrections arrive. Units and cohorts
    that `later` does not show had no arrivals; new ones are refused, for nothing is known of them.
    """
    for name in ("behaviors", "feature_names", "period"):
        if getattr(later, name) != getattr(earlier, name):
            raise InputError(
                f"{name} of the new panel are {getattr(later, name)}, those known are "
                f"{getattr(earlier, name)}; make the panel the same way."
            )
    begin = _first_new(earlier, later)
    units = _numbers("units", later.units, earlier.units)
    cohorts = _numbers("cohorts", later.cohorts, earlier.cohorts)
    if earlier.has_effort and not later.has_effort:
        raise InputError(
            f"effort from {later.dates[0]} on is missing; the fit's panel was made with an effort "
            "table: give effort for the new dates too."
        )
    if later.has_effort and not earlier.has_effort:
        raise InputError(
            "the new panel has effort, but the fit's was made without it; leave it out, or fit "
            "again with effort for every date."
        )
    place = np.ix_(range(later.days), units, cohorts)
    known = np.ix_(range(len(later.known_dates)), units, cohorts)
    cells = (len(earlier.units), len(earlier.cohorts))
    patterns = np.zeros((later.days, *cells, earlier.patterns.shape[-1]), np.int64)
    patterns[place] = later.patterns
    size = np.broadcast_to(earlier.size[begin - 1], (later.days, *cells)).copy()
    if later.sized and earlier.sized:
        size[place] = later.size
    effort = np.ones((len(later.known_dates), *cells))
    features = np.zeros((len(later.known_dates), *cells, earlier.features.shape[-1]))
    effort[known], features[known] = later.effort, later.features
    return replace(
        earlier,
        patterns=np.concatenate([earlier.patterns[:begin], patterns]),
        size=np.concatenate([earlier.size[:begin], size]),
        effort=np.concatenate([earlier.effort[:begin], effort]),
        features=np.concatenate([earlier.features[:begin], features]),
        known_dates=np.concatenate([earlier.known_dates[:begin], later.known_dates]),
        events=_events(earlier.events, later.events, begin, units, cohorts),
    )


def repeated_through(panel: Panel, stop: int) -> Panel:
    """The panel with effort and features of at least `stop` days; those that are not known are
    those of the last cycle again."""
    if stop <= len(panel.known_dates):
        return panel
    cycle = min(CYCLES[panel.period.name], len(panel.known_dates))
    return replace(
        panel,
        known_dates=panel.period.range(panel.dates[0], stop),
        effort=repeated(panel.effort, stop, cycle),
        features=repeated(panel.features, stop, cycle),
    )


def repeated(known: np.ndarray, stop: int, cycle: int) -> np.ndarray:
    """The first `stop` days: as known, then the last `cycle` of them over and over."""
    cycle = min(cycle, len(known))
    beyond = max(stop - len(known), 0)
    again = known[len(known) - cycle + np.arange(beyond) % cycle]
    return np.concatenate([known, again])[:stop]


def _first_new(earlier: Panel, later: Panel) -> int:
    """The day number at which the new days begin."""
    begin = int((later.dates[0] - earlier.dates[0]) / earlier.period.step)
    if begin < 1:
        raise InputError(
            f"the new panel starts on {later.dates[0]}, the fit's on {earlier.dates[0]}; "
            "hand over the whole table from its first date on, or days after that."
        )
    if begin > earlier.days:
        raise InputError(
            f"the new panel starts on {later.dates[0]}, but what is known ends on "
            f"{earlier.dates[-1]}; hand over the {earlier.period.name}s in between too, or say by "
            "start= from when on nothing arrived."
        )
    return begin


def _numbers(name: str, new: Sequence[Label], known: Sequence[Label]) -> list[int]:
    unknown = [label for label in new if label not in known]
    if unknown:
        raise InputError(
            f"{name} of the new panel hold {few(unknown)}, which the fit does not know; leave the "
            "rows out, or fit again."
        )
    return [known.index(label) for label in new]


def _events(
    earlier: EventCounts | None,
    later: EventCounts | None,
    begin: int,
    units: Sequence[int],
    cohorts: Sequence[int],
) -> EventCounts | None:
    if earlier is None:
        return None
    if later is None or later.names != earlier.names:
        raise InputError(
            f"the fit's panel has the context columns {', '.join(earlier.names)}; make the new "
            "panel with the same context."
        )
    old = earlier.between(0, begin)
    day, unit, cohort = later.cell.T
    cell = np.stack([day + begin, np.array(units)[unit], np.array(cohorts)[cohort]], 1)
    order = np.lexsort(cell.T[::-1])
    return EventCounts(
        earlier.names,
        np.concatenate([old.cell, cell[order]]),
        np.concatenate([old.context, later.context[order]]),
        np.concatenate([old.patterns, later.patterns[order]]),
    )
