"""What was bought before: the periods that lead to each market, place by place, as arrays.

One label of the period column is one step of time, in the order of the labels: whole numbers by
size, texts (dates as 2026-09-12) by letters. Only periods that some market names are steps.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dgd.choice.dynamics.when_and_where import ONE_PLACE, PlaceAndPeriod, ordered_periods
from dgd.choice.markets import Markets
from dgd.errors import InputError
from dgd.tables.labels import Label


class MarketHistory(NamedTuple):
    """When and where markets are, and what the periods before them are known to have bought.

    Sums go over all markets of a place and period; attributes are in the user's own units.
    """

    period: Int[Array, " market"]
    place: Int[Array, " market"]
    size: Float[Array, " market"]
    """Opportunities of the market, by which it counts among others of its place and period."""
    home: Int[Array, " place"]
    """The row of the place among those with usual purchases; the last row is any other place's."""
    opportunities: Float[Array, "period place"]
    """0 where no sales are known."""
    bought: Float[Array, "period place"]
    content: Float[Array, "period place attribute"]
    """The sum of C x over products: attributes bought."""
    ahead: Int[Array, "step width"]
    """The markets of the periods that expected purchases lead on from, in order; -1 fills up.
    These periods are the last but the very last one, from which nothing leads on."""

    def at(self, markets: Int[Array, " market"]) -> "MarketHistory":
        """The same past as some of the markets see it, where no expectation leads to them."""
        return self._replace(
            period=self.period[markets], place=self.place[markets], size=self.size[markets]
        )


@dataclass(frozen=True, eq=False)
class HistoryOf:
    """What was recorded of places and periods, for any markets in them or after them.

    A place and period without recorded sales is taken as usual: nothing is added to what the
    place carries, which only fades. Where such a period has markets among those asked for, what
    the model expects them to buy takes the place of counts.
    """

    places: tuple[Label, ...]
    """The places that the model knows the usual purchases of."""
    recorded: tuple[Markets, ...]

    @staticmethod
    def by(markets: Markets) -> "HistoryOf":
        """As the markets of a fit recorded it."""
        return HistoryOf(PlaceAndPeriod.of(markets).place_labels, ()).with_later(markets)

    def with_later(self, markets: Markets) -> "HistoryOf":
        """With what more markets recorded, in places and periods not recorded so far."""
        if not markets.counted:
            raise InputError(
                "these markets were made with count=None; only counted ones are a history: name "
                "their column."
            )
        known = {cell for before in self.recorded for cell in PlaceAndPeriod.of(before).cells}
        twice = [cell for cell in PlaceAndPeriod.of(markets).cells if cell in known]
        if twice:
            place, period = twice[0]
            where = "" if place == ONE_PLACE else f" of place {place!r}"
            raise InputError(
                f"period {period!r}{where} is already recorded; leave its markets out."
            )
        return replace(self, recorded=(*self.recorded, markets))

    def of(self, markets: Markets, since: Label | None = None) -> MarketHistory:
        """The history of `markets`, be they recorded ones, changed ones or later ones.

        Args:
            markets: what is asked for. Their own counts are never looked at.
            since: the first period to be left by expected purchases although sales were
                recorded: what would have been had all that follows gone as `markets` say.
                Without it, every market is led to by what was recorded before it.
        """
        asked = PlaceAndPeriod.of(markets)
        parts = [PlaceAndPeriod.of(before) for before in self.recorded]
        steps = ordered_periods([asked, *parts])
        if since is not None and since not in steps:
            raise InputError(
                f"since is {since!r}, which is no period; choose one from {next(iter(steps))!r} "
                f"to {next(reversed(steps))!r}."
            )
        end = len(steps) if since is None else steps[since]
        period = np.array([steps[label] for label in asked.periods])
        places = {label: index for index, label in enumerate(dict.fromkeys(asked.places))}
        place = np.array([places[label] for label in asked.places])
        sums = _Sums(int(period.max()) + 1, len(places), len(markets.attribute_names))
        for before, when in zip(self.recorded, parts, strict=True):
            sums.add(before, when, steps, places, end)
        known = {label: index for index, label in enumerate(self.places)}
        home = np.array([known.get(label, len(known)) for label in places])
        ahead = _ahead(period, place, sums.opportunities > 0)
        arrays = (period, place, markets.size, home)
        grids = (sums.opportunities, sums.bought, sums.content, ahead)
        return MarketHistory(*map(jnp.asarray, (*arrays, *grids)))


class _Sums:
    """What the periods before the last one asked for have bought."""

    def __init__(self, periods: int, places: int, attributes: int) -> None:
        self.opportunities = np.zeros((periods, places))
        self.bought = np.zeros((periods, places))
        self.content = np.zeros((periods, places, attributes))

    def add(
        self,
        markets: Markets,
        when: PlaceAndPeriod,
        steps: dict[Label, int],
        places: dict[Label, int],
        end: int,
    ) -> None:
        """Take up the markets of `places` that were before the step `end`."""
        period = np.array([steps[label] for label in when.periods])
        place = np.array([places.get(label, -1) for label in when.places])
        of_use = (place >= 0) & (period < min(end, len(self.bought)))
        cell = (period[of_use], place[of_use])
        np.add.at(self.opportunities, cell, markets.size[of_use])
        np.add.at(self.bought, cell, markets.sales[of_use])
        content = np.einsum("mj,mja->ma", markets.count[of_use], markets.attributes[of_use])
        np.add.at(self.content, cell, content)


def _ahead(
    period: Int[np.ndarray, " market"],
    place: Int[np.ndarray, " market"],
    known: Bool[np.ndarray, "period place"],
) -> Int[np.ndarray, "step width"]:
    """The markets of each period from the first that only expectations lead on from."""
    last = len(known) - 1
    unknown = period[~known[period, place] & (period < last)]
    if not len(unknown):
        return np.zeros((0, 0), np.int64)
    there = [np.flatnonzero(period == step) for step in range(unknown.min(), last)]
    ahead = np.full((len(there), max(map(len, there))), -1)
    for step, markets in enumerate(there):
        ahead[step, : len(markets)] = markets
    return ahead
