"""Days of a panel's units in blocks, as training walks them with bounded memory.

Everything that a unit has of its own has a leading axis over blocks; the last block is filled up
with units that are not there: nobody can arrive at them, and nothing is added for them.
"""

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dgd.model import negative_binomial
from dgd.model.days import CohortTotals, Inputs
from dgd.model.shown_patterns import ShownPatterns
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.some_units import panel_of_units
from dgd.processes.group import ALONE, Group

GROWTH = 1.25
"""Lists of what was shown have one of these lengths, so that few programs are compiled."""


class UnitDays(eqx.Module):
    """What is known before and recorded on each date, of one block of units or, with a leading
    axis, of many."""

    calendar: Float[Array, "*block date unit_or_1 cohort_or_1 calendar"]
    summaries: Float[Array, "*block date unit cohort summary"]
    size: Float[Array, "*block date unit cohort"]
    effort: Float[Array, "*block date unit cohort"]
    arrivals: Float[Array, "*block date unit cohort"]
    log_count_constant: Float[Array, "*block date unit cohort"]
    present: Float[Array, "*block unit"]
    """1 for units, 0 for what fills the block up."""
    shown: ShownPatterns

    @property
    def inputs(self) -> Inputs:
        """Of one block."""
        spread = (*self.size.shape, self.calendar.shape[-1])
        return Inputs(
            jnp.broadcast_to(self.calendar, spread), self.summaries, self.size, self.effort
        )


class Strengths(eqx.Module):
    """How strongly units are held where the hierarchy has them, in arrivals."""

    arrival: Float[Array, " cohort"]
    response: Float[Array, " behavior"]


class UnitBlocks(eqx.Module):
    """All blocks of some days, and what stands for all units."""

    days: UnitDays
    totals: CohortTotals
    """What all units counted."""
    units: Float[Array, ""]
    """How many units there are, wherever they are."""
    weight: Float[Array, ""]
    """How many units each unit of the blocks stands for: 1 where all are there."""
    strengths: Strengths | None = None
    """Missing where units are free."""
    shared: "SharedSurprise | None" = None
    """Where it is missing, the units at hand are taken for all."""


class SharedSurprise(eqx.Module):
    """What the days of the arrival environment have of all units."""

    mean: Float[Array, "*date"]
    """Their mean surprise."""
    center: Float[Array, "*date"]
    """The mean of their departures, by which all are moved."""


@dataclass(frozen=True)
class BlockRecorder:
    """Makes blocks of a panel's days; the same units give the same numbers in any block."""

    panel: Panel
    maker: FeatureMaker
    dispersion: float
    strengths: Strengths | None = None

    def days(
        self,
        units: Int[np.ndarray, " some"],
        start: int,
        stop: int,
        length: int,
        room: tuple[int, int] = (0, 0),
    ) -> UnitDays:
        """The counted days from `start` up to `stop` of some units, filled up to `length`; their
        lists have room for at least so many cells and entries."""
        panel, maker = panel_of_units(self.panel, units), self.maker.of_units(units)
        days, more = slice(start, stop), length - len(units)
        own = panel.features[days] if panel.feature_names else np.zeros((stop - start, 1, 1, 0))
        known = maker.known_of(panel.known_dates[days], own)
        fill = ((0, 0), (0, more), (0, 0))
        if panel.feature_names:
            known = np.pad(known, (*fill, (0, 0)))
        arrivals = np.pad(panel.arrivals[days].astype(np.float64), fill)
        return UnitDays(
            calendar=jnp.asarray(known),
            summaries=jnp.asarray(np.pad(maker.summaries(panel)[days], (*fill, (0, 0)))),
            size=jnp.asarray(np.pad(panel.size[days], fill, constant_values=1.0)),
            effort=jnp.asarray(np.pad(panel.effort[days], fill)),
            arrivals=jnp.asarray(arrivals),
            log_count_constant=jnp.asarray(
                negative_binomial.log_constant(arrivals, self.dispersion)
            ),
            present=jnp.asarray(np.pad(np.ones(len(units)), (0, more))),
            shown=_shown(panel, start, stop, length, room),
        )

    def totals(self, start: int, stop: int) -> CohortTotals:
        """What all units counted on the days."""
        everyone = self.panel.together
        return CohortTotals(
            jnp.asarray(everyone.arrivals[start:stop].astype(np.float64)),
            jnp.asarray(everyone.behavior_counts[start:stop].astype(np.float64)),
        )

    def blocks(
        self, start: int, stop: int, length: int, count: int | None = None, group: Group = ALONE
    ) -> UnitBlocks:
        """All units of the panel in blocks of that length, as many as every process has."""
        units = len(self.panel.units)
        count = -(-units // length) if count is None else count
        places = np.arange(count * length).reshape(count, length)
        parts = [self.days(some[some < units], start, stop, length) for some in places]
        room = group.maximum(_longest(parts))
        return self.standing_for_all(parts, start, stop, 1.0, (int(room[0]), int(room[1])))

    def standing_for_all(
        self,
        parts: list[UnitDays],
        start: int,
        stop: int,
        weight: float,
        room: tuple[int, int] = (0, 0),
    ) -> UnitBlocks:
        """Blocks of some units, each of which stands for `weight` of them; lists have room for at
        least so many cells and entries."""
        return UnitBlocks(
            _stacked(parts, room),
            self.totals(start, stop),
            jnp.asarray(float(self.panel.together.units)),
            jnp.asarray(weight),
            self.strengths,
        )


def _longest(parts: list[UnitDays]) -> Int[np.ndarray, "2"]:
    """The longest lists of cells and of entries."""
    lengths = [(p.shown.cell.shape[-1], p.shown.count.shape[-1]) for p in parts]
    return np.array(lengths).max(0)


def _stacked(parts: list[UnitDays], room: tuple[int, int]) -> UnitDays:
    """Blocks of equal length side by side, their lists filled up to the longest."""
    longest = np.maximum(_longest(parts), room).tolist()
    filled = [eqx.tree_at(lambda d: d.shown, p, _filled(p.shown, *longest)) for p in parts]
    return jax.tree.map(lambda *same: jnp.stack(same), *filled)


def _shown(
    panel: Panel, start: int, stop: int, length: int, room: tuple[int, int]
) -> ShownPatterns:
    """What was shown, by the places of cells in a block of that length."""
    counts = panel.counts.between(start, stop)
    cohorts = counts.shape[2]
    place = (counts.day.astype(np.int64) * length + counts.unit) * cohorts + counts.cohort
    cell, group = np.unique(place, return_inverse=True)
    found = ShownPatterns(
        jnp.asarray(cell),
        jnp.asarray(group),
        jnp.asarray(counts.pattern),
        jnp.asarray(counts.count.astype(np.float64)),
    )
    groups, entries = (
        least if number <= least else _length(number)
        for number, least in zip((len(cell), len(group)), room, strict=True)
    )
    return _filled(found, groups, entries)


def _filled(shown: ShownPatterns, groups: int, entries: int) -> ShownPatterns:
    """The same with places at the end that count nothing."""

    def fill(x: Array, length: int) -> Array:
        return jnp.asarray(np.pad(np.asarray(x), (0, length - len(x))))

    return ShownPatterns(
        fill(shown.cell, groups),
        fill(shown.group, entries),
        fill(shown.pattern, entries),
        fill(shown.count, entries),
    )


def _length(number: int) -> int:
    """A length that is enough, one of few."""
    return math.ceil(GROWTH ** math.ceil(math.log(max(number, 16), GROWTH)))
