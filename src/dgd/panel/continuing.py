"""A panel goes on: newer days are put behind those known already, or the last ones repeated."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from dgd.errors import InputError, few
from dgd.panel.contexts import EventCounts
from dgd.panel.everyone import Everyone
from dgd.panel.new_units import first_seen, typical_size
from dgd.panel.panel import Panel
from dgd.panel.pattern_counts import PatternCounts
from dgd.tables.labels import Label

CYCLES = {"hour": 168, "day": 7, "week": 1}
"""After how many periods days are alike again."""


def continued(earlier: Panel, later: Panel) -> Panel:
    """`earlier` up to the day before `later` begins, then `later`, which may be the whole table.

    Days that both hold are those of `later`, so that corrections arrive. Units and cohorts
    that `later` does not show had no arrivals. Units that only `later` shows come behind the known
    ones and were not there before their first arrivals; new cohorts are refused, for nothing is
    known of their people.
    """
    for name in ("behaviors", "feature_names", "period"):
        if getattr(later, name) != getattr(earlier, name):
            raise InputError(
                f"{name} of the new panel are {getattr(later, name)}, those known are "
                f"{getattr(earlier, name)}; make the panel the same way."
            )
    begin = _first_new(earlier, later)
    _refuse_other_effort(earlier, later)
    all_units = _all_units(earlier, later, whole=begin == 0)
    units = _numbers(later.units, all_units)
    cohorts = _cohort_numbers(earlier, later, whole=begin == 0)
    known, cells = len(earlier.units), (len(all_units), len(earlier.cohorts))
    size, effort, features = _known_inputs(earlier, later, begin, units, cohorts, cells)
    counts = _counts(earlier.counts, later.counts, begin, units, cohorts, cells)
    since = np.zeros(cells[0], np.int64)
    since[:known] = 0 if earlier.since is None else earlier.since
    since[known:] = 1
    first = first_seen(counts, since > 0)
    if first is not None:
        effort[np.arange(len(effort))[:, None] < first] = 0.0
    return replace(
        earlier,
        counts=counts,
        size=size,
        effort=effort,
        features=features,
        known_dates=np.concatenate([earlier.known_dates[:begin], later.known_dates]),
        units=all_units,
        kind=earlier.kind if begin else later.kind,
        events=_events(earlier.events, later.events, begin, units, cohorts),
        everyone=_everyone(earlier, later, begin, cohorts),
        since=first,
        special_days=earlier.special_days.merged(later.special_days),
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
    if begin < 0:
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


def _refuse_other_effort(earlier: Panel, later: Panel) -> None:
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


def _all_units(earlier: Panel, later: Panel, *, whole: bool) -> tuple[Label, ...]:
    """The known units, and behind them those that are new."""
    known = set(earlier.units)
    new = tuple(label for label in later.units if label not in known)
    if len(new) == len(later.units):
        raise InputError(
            f"units of the new panel are {few(new)}, and the fit knows none of them but "
            f"{few(earlier.units)}; write units alike, or fit again."
        )
    if whole:
        _refuse_missing("units", later.units, earlier.units)
    return (*earlier.units, *new)


def _cohort_numbers(earlier: Panel, later: Panel, *, whole: bool) -> Int[np.ndarray, " cohort"]:
    unknown = [label for label in later.cohorts if label not in earlier.cohorts]
    if unknown:
        raise InputError(
            f"cohorts of the new panel hold {few(unknown)}, which the fit does not know; leave the "
            "rows out, or fit again."
        )
    if whole:
        _refuse_missing("cohorts", later.cohorts, earlier.cohorts)
    return _numbers(later.cohorts, earlier.cohorts)


def _refuse_missing(name: str, new: Sequence[Label], known: Sequence[Label]) -> None:
    """Refuse a whole table that would wipe out what was counted of some."""
    missing = [label for label in known if label not in set(new)]
    if missing:
        raise InputError(
            f"{name} of the new panel are without {few(missing)}, which the fit has; hand over the "
            f"whole table, name them by {name}=, or hand over later days alone."
        )


def _numbers(labels: Sequence[Label], among: Sequence[Label]) -> Int[np.ndarray, " label"]:
    order = {label: number for number, label in enumerate(among)}
    return np.array([order[label] for label in labels], np.int64)


def _known_inputs(
    earlier: Panel,
    later: Panel,
    begin: int,
    units: Int[np.ndarray, " unit"],
    cohorts: Int[np.ndarray, " cohort"],
    cells: tuple[int, int],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sizes, effort and features of all days; new units have typical sizes and usual effort."""
    known, new = len(earlier.units), cells[0] - len(earlier.units)
    day = max(begin - 1, 0)
    usual = np.concatenate([earlier.size[day], np.tile(typical_size(earlier, day), (new, 1))])
    size = np.broadcast_to(usual, (begin + later.days, *cells)).copy()
    effort = np.ones((begin + len(later.known_dates), *cells))
    features = np.zeros((*effort.shape, earlier.features.shape[-1]))
    size[:begin, :known] = earlier.size[:begin]
    effort[:begin, :known] = earlier.effort[:begin]
    features[:begin, :known] = earlier.features[:begin]
    if later.sized and earlier.sized:
        size[np.ix_(np.arange(begin, len(size)), units, cohorts)] = later.size
        size[:begin, known:] = size[begin, known:]
    place = np.ix_(np.arange(begin, len(effort)), units, cohorts)
    effort[place], features[place] = later.effort, later.features
    return size, effort, features


def _counts(
    earlier: PatternCounts,
    later: PatternCounts,
    begin: int,
    units: Int[np.ndarray, " unit"],
    cohorts: Int[np.ndarray, " cohort"],
    cells: tuple[int, int],
) -> PatternCounts:
    """Earlier counts up to the day numbered `begin`, then the later ones, by the earlier labels."""
    old = earlier.between(0, begin)
    shape = (begin + later.shape[0], *cells, earlier.shape[3])
    unit, cohort = units[later.unit], cohorts[later.cohort]
    parts = (
        (old.day, later.day + begin),
        (old.unit, unit),
        (old.cohort, cohort),
        (old.pattern, later.pattern),
        (old.count, later.count),
    )
    return PatternCounts.of_rows(shape, *(np.concatenate(part) for part in parts))


def _everyone(
    earlier: Panel, later: Panel, begin: int, cohorts: Int[np.ndarray, " cohort"]
) -> Everyone | None:
    """What all units counted, where these are some of them."""
    if earlier.everyone is None:
        return None
    if later.everyone is None:
        raise InputError(
            f"the fit holds {len(earlier.units)} of {earlier.everyone.units} units, and newer "
            "counts move what all of them share; update the fit of all units."
        )
    patterns = np.zeros((begin + later.days, *earlier.everyone.patterns.shape[1:]), np.int64)
    patterns[:begin] = earlier.everyone.patterns[:begin]
    patterns[begin:, cohorts] = later.everyone.patterns
    return Everyone(patterns, max(earlier.everyone.units, later.everyone.units))


def _events(
    earlier: EventCounts | None,
    later: EventCounts | None,
    begin: int,
    units: Int[np.ndarray, " unit"],
    cohorts: Int[np.ndarray, " cohort"],
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
    cell = np.stack([day + begin, units[unit], cohorts[cohort]], 1)
    order = np.lexsort(cell.T[::-1])
    return EventCounts(
        earlier.names,
        np.concatenate([old.cell, cell[order]]),
        np.concatenate([old.context, later.context[order]]),
        np.concatenate([old.patterns, later.patterns[order]]),
    )
