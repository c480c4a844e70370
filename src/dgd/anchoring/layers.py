"""Layers of tilts: what cohorts share first, then what is left to units, then to cells.

Each layer tilts what the layers before it said, and follows only what they had not expected. Its
candidates, and the forecast without any of them, are weighed at past origins; steps ahead have
weights of their own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float, Int

from dgd.anchoring.everyones_histories import tilted_by_all
from dgd.anchoring.levels import Daily, Level
from dgd.anchoring.tilts import (
    Followed,
    Tilt,
    ahead,
    candidate_tilts,
    filtered,
    odds_factor,
    shock_variance,
    tilted,
)
from dgd.anchoring.weighing import block_of

Losses: TypeAlias = Float[np.ndarray, "block candidate"]


class Movements(NamedTuple):
    """Which movements are followed."""

    swings: bool
    weekdays: bool
    own: bool
    """Whether units and cells may move by themselves, beside what cohorts share."""

    def candidates(self, units: int, cohorts: int, cycle: int) -> tuple[tuple[Tilt, ...], ...]:
        """The tilts of every layer; layers that could say nothing new are left out.

        Cells follow no weekdays of their own: these would cost much and say little.
        """
        rhythm = self.weekdays and cycle > 1
        shared: tuple[Level, ...] = ("all", "cohort") if cohorts > 1 else ("all",)
        layers = [
            tuple(
                tilt
                for level in shared
                for tilt in candidate_tilts(level, swings=self.swings, weekdays=rhythm)
            )
        ]
        if self.own and units > 1:
            layers.append(candidate_tilts("unit", swings=self.swings, weekdays=rhythm))
            if cohorts > 1:
                layers.append(candidate_tilts("cell", swings=self.swings, weekdays=False))
        return tuple(layer for layer in layers if layer)


MOVEMENTS = {
    "both": Movements(swings=True, weekdays=True, own=True),
    "shared": Movements(swings=True, weekdays=True, own=False),
    "swings": Movements(swings=True, weekdays=False, own=True),
    "weekdays": Movements(swings=False, weekdays=True, own=True),
    "none": Movements(swings=False, weekdays=False, own=False),
}
"""By the setting's value."""


@dataclass(frozen=True, eq=False)
class Layer:
    """Tilts, their weights, and how much days move what they tilt."""

    tilts: tuple[Tilt, ...]
    shares: Float[np.ndarray, "block tilt"]
    """The first column is what was said before, without any tilt."""
    shocks: dict[Level, float]
    """How much a day moves the log-odds of behaviours beyond chance."""

    @staticmethod
    def chosen(
        daily: Daily,
        said: Mapping[int, Daily],
        place: Int[np.ndarray, " known"],
        cycle: int,
        tilts: tuple[Tilt, ...],
        seen: slice,
        loss: Callable[[Daily, int], float],
        weigh: Callable[[Losses], Losses],
        everyone: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> "tuple[Layer, dict[int, Daily]]":
        """Weigh the tilts of what was said of every step ahead; the layer, and what it says.

        Args:
            said: what is expected that many steps after each day, for every block.
            place: of every day in the cycle, further than the largest step.
            seen: the days that tell how much days move.
            loss: of what is said that many steps ahead.
            weigh: from losses to weights.
            everyone: counts of all units as of one, and what was said of them one day ahead,
                where the units at hand are some of them: movements that all share are theirs.
        """
        daily, one_ahead = everyone or (daily, said[1])
        expected = the_day_before(one_ahead)
        levels = dict.fromkeys(tilt.level for tilt in tilts)
        shocks = {name: shock_variance(daily[seen], expected[seen], name) for name in levels}
        days = np.arange(len(daily))
        followed = filtered(daily, expected, place, cycle, tilts, shocks)
        losses = np.zeros((len(said), 1 + len(tilts)))
        for row, (step, before) in enumerate(said.items()):
            losses[row, 0] = loss(before, step)
            for column, tilt in enumerate(tilts, 1):
                added = ahead(followed[tilt], tilt, step, place[days + step])
                losses[row, column] = loss(tilted(before, added), step)
        layer, blocks = Layer(tilts, weigh(losses), shocks), tuple(said)
        return layer, {
            step: layer.said(before, followed, days, step, place, blocks)
            for step, before in said.items()
        }

    def followed(
        self, daily: Daily, one_ahead: Daily, place: Int[np.ndarray, " known"], cycle: int
    ) -> Followed:
        """Beliefs of the tilts that have any weight, from what was said one day ahead."""
        heard = [
            tilt for tilt, shares in zip(self.tilts, self.shares.T[1:], strict=True) if shares.any()
        ]
        return filtered(daily, the_day_before(one_ahead), place, cycle, heard, self.shocks)

    def said_of_many(
        self,
        before: Daily,
        followed: Followed,
        days: Int[np.ndarray, " day"],
        step: int,
        place: Int[np.ndarray, " known"],
        blocks: tuple[int, ...],
    ) -> Daily:
        """The same as `said` by tilts that all units share, for many units."""
        shares = self.shares[block_of(step, blocks)]
        heard = np.flatnonzero(shares[1:])
        if not len(heard):
            return before
        factors = []
        for tilt in (self.tilts[number] for number in heard):
            added = ahead(followed[tilt][days], tilt, step, place[days + step])
            factors.append(odds_factor(added))
        every = np.stack([np.broadcast_to(one, _widest(factors)) for one in factors])
        return tilted_by_all(before, every, np.concatenate([shares[:1], shares[1:][heard]]))

    def said(
        self,
        before: Daily,
        followed: Followed,
        days: Int[np.ndarray, " day"],
        step: int,
        place: Int[np.ndarray, " known"],
        blocks: tuple[int, ...],
    ) -> Daily:
        """What was said `before` of the days `step` after these, tilted."""
        shares = self.shares[block_of(step, blocks)]
        found = shares[0] * before
        for tilt, share in zip(self.tilts, shares[1:], strict=True):
            if share:
                added = ahead(followed[tilt][days], tilt, step, place[days + step])
                found = found + share * tilted(before, added)
        return np.asarray(found)


def _widest(factors: list[np.ndarray]) -> tuple[int, ...]:
    """The shape that factors of all and of every cohort have in common."""
    return np.broadcast_shapes(*(one.shape for one in factors))


def the_day_before(said: Daily) -> Daily:
    """What was expected of each day on the day before; of the first, what the second expects."""
    return np.concatenate([said[:1], said[:-1]])
