"""How markets become offers of a fit whose demand moves: with what was bought before them."""

from dataclasses import dataclass

from dgd.choice.dynamics.history import HistoryOf
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.tables.labels import Label


@dataclass(frozen=True, eq=False)
class MovingOffers:
    """What a fit knows about offers that no attribute holds, and about the past of places."""

    fitted: FittedOffers
    recorded: HistoryOf

    @staticmethod
    def by(markets: Markets, fitted: FittedOffers | None = None) -> "MovingOffers":
        """As the markets of a fit recorded it; inside `computing`, as all that follows."""
        plain = FittedOffers.plain(markets) if fitted is None else fitted
        return MovingOffers(plain, HistoryOf.by(markets))

    def of(self, markets: Markets, since: Label | None = None) -> Offers:
        """`markets` as demand that moves sees them; `since` is that of `HistoryOf.of`."""
        return self.fitted.of(markets)._replace(history=self.recorded.of(markets, since))
