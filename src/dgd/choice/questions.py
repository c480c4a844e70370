"""What a fit of demand can be asked: shares, elasticities, comparisons, curves, best prices."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from dgd.choice.best_prices import best_prices_table
from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.coefficients import coefficients_table
from dgd.choice.comparison import Comparison
from dgd.choice.demand import Demand
from dgd.choice.demand_curves import at_price, demand_curve_table, slots_of, tried_prices
from dgd.choice.extrapolation import warn_of_far_prices
from dgd.choice.firms.conduct import Firms
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.choice.segments import choosers_table, segments_table
from dgd.choice.surplus import warn_of_careless
from dgd.choice.uncertainty import DRAWS, Doubt, Drawn, reach, with_ranges
from dgd.learning.trained import Trained
from dgd.runtime import computing
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label

BEST_PRICE_DRAWS = 40
"""Parameter sets that the range of a best price is taken from: each is a search of its own."""


class DemandQuestions(Trained):
    """Tables about the markets of the fit, or others handed over as `markets`.

    They come in the kind of frame those came in, or in `kind`. With a `level` in percent they have
    the range that holds the truth in so many of a hundred cases, as far as sampling goes: markets
    are drawn, the model is taken for true.
    """

    markets: Markets

    @property
    @abstractmethod
    def fitted(self) -> FittedOffers:
        """How markets become offers of this fit."""

    @property
    @abstractmethod
    def price_range(self) -> tuple[float, float]:
        """The lowest and highest price trained on."""

    @property
    @abstractmethod
    def alike(self) -> bool:
        """Whether everyone is the same in this fit: then there are no types to speak of."""

    @property
    @abstractmethod
    def controlled(self) -> bool:
        """Whether what a first stage leaves of prices stands beside the attributes."""

    @property
    @abstractmethod
    def doubt(self) -> Doubt:
        """What was estimated, and how sure it is."""

    @abstractmethod
    def draws(self, number: int = DRAWS) -> list[Drawn]:
        """Parameter sets that the counts allow as well, drawn around the estimate."""

    @abstractmethod
    def nearby(self) -> list[Drawn]:
        """Parameter sets near the estimate, whose scatter times `far` is a range."""

    @abstractmethod
    def far(self, level: float) -> float:
        """How many times their scatter a range goes to either side."""

    def figure(
        self,
        told: Callable[[Demand], Any],
        markets: Markets | None = None,
        kind: str | None = None,
        level: float = 90,
    ) -> Any:
        """Any figure of demand with its range: one row per number that `told` returns.

        Args:
            told: from a `Demand`, with its shares, price derivatives and tables, to a number or
                several.
            markets: where it is asked; without it, in the markets of the fit.
            kind: the kind of frame, if another than that of the markets.
            level: in percent.
        """

        def made(demand: Demand) -> pl.DataFrame:
            return pl.DataFrame({"figure": np.atleast_1d(np.asarray(told(demand), float))})

        return self._table(made, markets, kind, level, ["figure"])

    def predict(
        self, markets: Markets | None = None, kind: str | None = None, level: float | None = None
    ) -> Any:
        """One row per market and product, and one for buying nothing: share and count.

        Whole-number labels stay whole numbers; that of buying nothing is then missing.
        """
        return self._table(Demand.shares_table, markets, kind, level, ["share", "count"])

    def elasticities(
        self, markets: Markets | None = None, kind: str | None = None, level: float | None = None
    ) -> Any:
        """One row per market, product and price: by how many percent the product's share moves
        when the price of `price of` rises by one percent."""
        return self._table(Demand.elasticities_table, markets, kind, level, ["elasticity"])

    def diversion(
        self, markets: Markets | None = None, kind: str | None = None, level: float | None = None
    ) -> Any:
        """One row per market, product and alternative: which part of the buyers a product loses
        to a higher price go `to` the alternative."""
        return self._table(Demand.diversion_table, markets, kind, level, ["diversion"])

    def consumer_surplus(
        self, markets: Markets | None = None, kind: str | None = None, level: float | None = None
    ) -> Any:
        """One row per market: what having these offers is worth to its people, in money.

        The level leans on the people who mind prices least, about whom the data say least;
        decide by the difference between two offers (`compare`).
        """
        demand = self.demand(markets)
        warn_of_careless(demand.parameters, demand.surplus_at_nodes)
        columns = ["surplus per opportunity", "surplus"]
        return self._table(Demand.surplus_table, markets, kind, level, columns)

    def coefficients(self, level: float = 90, kind: str | None = None) -> Any:
        """One row per coefficient, in the table's units: estimate, standard error, range.

        Tastes and price sensitivity are means over people; where people differ, their standard
        deviations over people follow. Standard errors are clustered by market or household.
        """
        table = coefficients_table(
            self.parameters[0],
            self.doubt,
            self.fitted,
            level,
            differ=not self.alike,
            controlled=self.controlled,
        )
        return from_polars(table, kind or self.markets.kind)

    def compare(
        self, changed: Markets, base: Markets | None = None, level: float | None = None
    ) -> Comparison:
        """Demand, revenue and surplus before and after a change.

        Args:
            changed: the markets as they might be, made by their `with_...` methods.
            base: the markets to hold them against; without it, those of the fit.
            level: in percent, for the range of every difference.
        """
        before, after = self.demand(base), self.demand(changed)
        if level is None:
            return Comparison(before, after)
        others = zip(self._nearby(before.markets), self._nearby(after.markets), strict=True)
        return Comparison(
            before, after, tuple(Comparison(*pair) for pair in others), self.far(level)
        )

    def demand_curve(
        self,
        product: Label,
        prices: Sequence[float] | np.ndarray,
        markets: Markets | None = None,
        kind: str | None = None,
        level: float | None = None,
    ) -> Any:
        """One row per price: the product's count and revenue, and those of all products.

        Args:
            product: whose price moves, in every market that lists it; all others stay.
            prices: the prices to try.
            markets: where they are asked; without it, in the markets of the fit.
            kind: the kind of frame, if another than that of the markets.
            level: in percent, for the range of every figure.
        """
        markets = markets or self.markets
        own = slots_of(markets, product)
        tried = tried_prices(prices)
        for end in (tried.min(), tried.max()):
            warn_of_far_prices(self.price_range, at_price(markets, own, float(end)))
        table = self._curve(self.parameters, markets, product, tried, self.fitted)
        if level is not None:
            with computing():
                drawn = [self._curve((d,), markets, product, tried, of) for d, of in self.nearby()]
            table = with_ranges(table, drawn, table.columns[1:], self.far(level))
        return from_polars(table, kind or markets.kind)

    def best_prices(
        self,
        products: Sequence[Label] | None = None,
        markets: Markets | None = None,
        kind: str | None = None,
        level: float | None = None,
    ) -> Any:
        """One row per product and aim: the price that earns most, each price moved alone.

        The aims are the product's own revenue and that of all products together; for profits, see
        `firms`. Only prices between the lowest and the highest offered are tried: where the best
        is one of these two (`at the edge`), a better one may lie beyond. Products that were
        offered at one price only are left out.
        """
        markets = markets or self.markets

        def best(parameters: tuple[ChoiceDemand, ...], fitted: FittedOffers) -> pl.DataFrame:
            def curve(product: Label, prices: np.ndarray) -> pl.DataFrame:
                return self._curve(parameters, markets, product, prices, fitted)

            return best_prices_table(curve, markets, products)

        with computing():
            table = best(self.parameters, self.fitted)
        if level is not None:
            with computing():
                drawn = [best((one,), fitted) for one, fitted in self.draws(BEST_PRICE_DRAWS)]
            table = with_ranges(
                table, drawn, ["best price", "gain percent"], reach(level, self.doubt.clusters)
            )
        return from_polars(table, kind or markets.kind)

    def firms(self, markets: Markets | None = None) -> Firms:
        """Those who set the prices: their costs and markups, mergers, and prices in equilibrium."""
        return Firms(self.parameters, self.fitted, markets or self.markets)

    def segments(self, kind: str | None = None) -> Any:
        """One row per seed, cohort and type: share, mean tastes, mean and spread of price
        sensitivity. Types of different seeds need not correspond."""
        names = self.markets.attribute_names
        table = segments_table(self.choosers("polars"), names)
        return from_polars(table, kind or self.markets.kind)

    def choosers(self, kind: str | None = None) -> Any:
        """One row per seed, cohort and support point: its weight and how it chooses."""
        markets = self.markets
        table = choosers_table(
            self.parameters, self.seeds, markets.cohorts, markets.attribute_names
        )
        return from_polars(table, kind or markets.kind)

    def demand(self, markets: Markets | None = None) -> Demand:
        """Demand in `markets`, or in those of the fit."""
        if markets is None:
            markets = self.markets
        else:
            self.markets.refuse_different(markets, "these markets")
            warn_of_far_prices(self.price_range, markets)
        return Demand(self.parameters, markets, _offers(self.fitted, markets))

    def _nearby(self, markets: Markets) -> list[Demand]:
        """Demand for parameters near the estimate, as far apart as it is unsure."""
        drawn = self.nearby()
        offers = {id(fitted): _offers(fitted, markets) for fitted in {d.fitted for d in drawn}}
        return [Demand((one,), markets, offers[id(fitted)]) for one, fitted in drawn]

    def _table(
        self,
        made: Callable[[Demand], pl.DataFrame],
        markets: Markets | None,
        kind: str | None,
        level: float | None,
        columns: Sequence[str],
    ) -> Any:
        demand = self.demand(markets)
        table = made(demand)
        if level is not None:
            with computing():
                drawn = [made(one) for one in self._nearby(demand.markets)]
            table = with_ranges(table, drawn, columns, self.far(level))
        return from_polars(table, kind or demand.markets.kind)

    @staticmethod
    def _curve(
        parameters: tuple[ChoiceDemand, ...],
        markets: Markets,
        product: Label,
        prices: np.ndarray,
        fitted: FittedOffers,
    ) -> pl.DataFrame:
        seen = partial(_offers, fitted)
        return demand_curve_table(parameters, seen, markets, product, prices)


def _offers(fitted: FittedOffers, markets: Markets) -> Offers:
    with computing():
        return fitted.of(markets)
