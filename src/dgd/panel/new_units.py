"""Units that were first seen after the fit: what is taken of them as long as nothing is known.

On the days before it was seen a unit was not there: its effort is 0, so that no day of silence is
held against it. Whatever follows its counts from day to day (features, smoothers) is shown those of
a typical unit of its cohort instead, all units' arrivals per person times its own size, and meets
its own counts from then on.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from dgd.panel.panel import Panel
from dgd.panel.pattern_counts import PatternCounts

LEAST_PEOPLE = 1e-9
"""Nothing is divided by less."""


def absent_days(panel: Panel, days: int) -> Bool[np.ndarray, "day unit"]:
    """Which units were not yet there on each of the first `days` days."""
    since = np.zeros(len(panel.units), np.int64) if panel.since is None else panel.since
    return np.asarray(np.arange(days)[:, None] < since)


def with_typical_counts(
    panel: Panel, counts: np.ndarray, together: np.ndarray
) -> Float[np.ndarray, "date unit cohort *counted"]:
    """Counts in which days before a unit was there are those of a typical unit.

    Args:
        panel: whose units these are.
        counts: with axes [date, unit, cohort, ...], of the panel's first dates.
        together: the same of all units together, with axes [date, cohort, ...].
    """
    days, more = len(counts), (1,) * (counts.ndim - 3)
    absent, size = absent_days(panel, days), panel.size[:days]
    people = np.maximum(_people(panel)[:days], LEAST_PEOPLE)
    per_person = together[:days] / people.reshape(*people.shape, *more)
    typical = per_person[:, None] * size.reshape(*size.shape, *more)
    return np.where(absent.reshape(*absent.shape, 1, *more), typical, counts)


def with_typical_effort(
    panel: Panel, effort: Float[np.ndarray, "known unit cohort"]
) -> Float[np.ndarray, "known unit cohort"]:
    """Effort in which days before a unit was there have the mean of the units that were."""
    absent = absent_days(panel, len(effort))[..., None]
    present = np.broadcast_to(~absent, effort.shape)
    mean = effort.sum(1, where=present) / np.maximum(present.sum(1), 1)
    mean = np.where(present.any(1), mean, 1.0)
    return np.where(absent, mean[:, None], effort)


def with_typical_units(
    known: np.ndarray, size: Float[np.ndarray, "unit_and_new cohort"]
) -> Float[np.ndarray, "unit_and_new cohort *counted"]:
    """Numbers of known units, in the order of sizes, and behind them those of new ones: what is
    known per person of the cohort, times their own size."""
    units, more = len(known), (1,) * (known.ndim - 2)
    sizes = size.reshape(*size.shape, *more)
    per_person = known.sum(0) / np.maximum(sizes[:units].sum(0), LEAST_PEOPLE)
    return np.concatenate([known, per_person * sizes[units:]])


def typical_size(panel: Panel, day: int) -> Float[np.ndarray, " cohort"]:
    """The size of a new unit where none is given: the median of the known ones, or the mean
    where sizes were taken from counts, so that a new unit has mean arrivals."""
    sizes = panel.size[day]
    return np.asarray(np.median(sizes, 0) if panel.sized else sizes.mean(0))


def most_effort(panel: Panel, days: slice) -> Float[np.ndarray, "unit cohort"]:
    """The most effort that cells had on these days; of units that were not there, the most of all
    units of their cohort."""
    most = np.asarray(panel.effort[days].max(0))
    absent = np.asarray(absent_days(panel, panel.days)[days].all(0))
    return np.where(absent[:, None], most.max(0), most)


def first_seen(
    counts: PatternCounts, new: Bool[np.ndarray, " unit"]
) -> Int[np.ndarray, " unit"] | None:
    """The day of each new unit's first arrivals, the day after the last where it has none; 0 of
    units that the fit has known all along, and None where all are."""
    if not new.any():
        return None
    first, stop = counts.starts[:-1], counts.starts[1:]
    days = np.append(counts.day, counts.shape[0]).astype(np.int64)
    return np.where(new, np.where(first < stop, days[first], counts.shape[0]), 0)


def _people(panel: Panel) -> Float[np.ndarray, "date cohort"]:
    """Sizes of all units that were there, together."""
    everyone = panel.together
    if everyone.people is not None:
        return everyone.people
    there = ~absent_days(panel, panel.days)[..., None]
    here = np.where(there, panel.size, 0.0).sum(1)
    return np.asarray(here * everyone.units / len(panel.units))
