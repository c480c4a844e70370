"""What a fit knows about offers that no attribute holds: absorbed effects, and unseen quality."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from dgd.choice.dynamics.history import HistoryOf
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers


@dataclass(frozen=True, eq=False)
class FittedOffers:
    """How markets become offers of a fit, by labels that the markets of the fit have.

    An absorbed label that was not fitted has no effect, as the first of its column, which the
    others are held against. Quality stays with the market and product it was found for, whatever
    their price is then; offers that were not fitted have none.
    """

    markets: Markets
    """The markets of the fit."""
    quality: Float[np.ndarray, "market slot"]
    past: HistoryOf | None = None
    """What was bought before, where that moves tastes."""

    @staticmethod
    def plain(markets: Markets) -> "FittedOffers":
        """No quality beside the columns."""
        return FittedOffers(markets, np.zeros(markets.price.shape))

    @property
    def level_count(self) -> int:
        """How many labels have an effect of their own."""
        return sum(len(self.markets.marks[name].labels) - 1 for name in self.markets.columns.absorb)

    def of(self, markets: Markets) -> Offers:
        """`markets` as the model of the fit sees them."""
        quality = self.quality if markets is self.markets else self._quality_in(markets)
        offers = Offers.of(markets, quality, self.levels(markets))
        return offers if self.past is None else offers._replace(history=self.past.of(markets))

    def levels(self, markets: Markets) -> Int[np.ndarray, "market slot absorbed"]:
        """Places among all effects; -1 for the first label of a column and for unknown ones."""
        found, first = [], 0
        for name in self.markets.columns.absorb:
            known = {label: at for at, label in enumerate(self.markets.marks[name].labels)}
            marks = markets.marks[name]
            place = np.array([known.get(label, 0) for label in marks.labels] + [0]) - 1
            place = np.where(place >= 0, place + first, -1)
            found.append(place[marks.code])
            first += len(known) - 1
        shape = markets.price.shape
        return np.stack(found, -1) if found else np.zeros((*shape, 0), np.int64)

    def _quality_in(self, markets: Markets) -> Float[np.ndarray, "market slot"]:
        if not self.quality.any():
            return np.zeros(markets.price.shape)
        own = self.markets
        known = {
            (own.markets[m], own.products[own.product[m, j]]): self.quality[m, j]
            for m, j in np.argwhere(own.listed)
        }
        found = np.zeros(markets.price.shape)
        for m, j in np.argwhere(markets.listed):
            key = (markets.markets[m], markets.products[markets.product[m, j]])
            found[m, j] = known.get(key, 0.0)
        return found
