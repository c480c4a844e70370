"""ChoiceFit: what training left behind, ready to answer questions about demand."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from dgd.choice.best_prices import best_prices_table
from dgd.choice.comparison import Comparison
from dgd.choice.demand import Demand
from dgd.choice.markets import Markets
from dgd.choice.segments import choosers_table, segments_table
from dgd.choice.settings import ChoiceSettings
from dgd.choice.starting import ChoiceStart, first_demand
from dgd.choice.stored import markets_from, markets_stored
from dgd.choice.surplus import warn_of_careless
from dgd.errors import InputError
from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.learning.runs import Run
from dgd.learning.trained import Trained, restored_runs
from dgd.runtime import computing
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label

FAR = 0.5
"""A price is far outside the training range when it lies beyond by so many of its widths."""


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceFit(Trained):
    """A fitted choice model: one parameter set per seed, with the markets it was fitted on.

    Tables are averages over the seeds. They are about the markets of the fit, or
    others handed over as `markets`, and come in the kind of frame those came in,
    or in `kind`.
    """

    settings: ChoiceSettings
    markets: Markets
    """The markets handed to `fit`, those held out for validation included."""
    training: tuple[Label, ...]
    """The labels of the markets trained on."""
    runs: tuple[Run, ...]

    holds: ClassVar[str] = "choice fit"

    @property
    def data(self) -> Markets:
        return self.markets

    @property
    def price_range(self) -> tuple[float, float]:
        """The lowest and highest price trained on."""
        return self.markets.select(self.training).price_range

    def predict(self, markets: Markets | None = None, kind: str | None = None) -> Any:
        """One row per market and product, and one for buying nothing: share and count.

        Where a column names the outside option, product labels are text.
        """
        demand = self._demand(markets)
        return from_polars(demand.shares_table(), kind or demand.markets.kind)

    def elasticities(self, markets: Markets | None = None, kind: str | None = None) -> Any:
        """One row per market, product and price: by how many percent the product's share moves
        when the price of `price of` rises by one percent."""
        demand = self._demand(markets)
        return from_polars(demand.elasticities_table(), kind or demand.markets.kind)

    def diversion(self, markets: Markets | None = None, kind: str | None = None) -> Any:
        """One row per market, product and alternative: which part of the buyers a product loses
        to a higher price go `to` the alternative."""
        demand = self._demand(markets)
        return from_polars(demand.diversion_table(), kind or demand.markets.kind)

    def consumer_surplus(self, markets: Markets | None = None, kind: str | None = None) -> Any:
        """One row per market: what having these offers is worth to its people, in money.

        The level leans on the people who mind prices least, about whom the data say least;
        decide by the difference between two offers (`compare`).
        """
        demand = self._demand(markets)
        warn_of_careless(demand.parameters, demand.surplus_at_nodes)
        return from_polars(demand.surplus_table(), kind or demand.markets.kind)

    def compare(self, changed: Markets, base: Markets | None = None) -> Comparison:
        """Demand, revenue and surplus before and after a change.

        Args:
            changed: the markets as they might be, made by their `with_...` methods.
            base: the markets to hold them against; without it, those of the fit.
        """
        return Comparison(self._demand(base), self._demand(changed))

    def demand_curve(
        self,
        product: Label,
        prices: Sequence[float] | np.ndarray,
        markets: Markets | None = None,
        kind: str | None = None,
    ) -> Any:
        """One row per price: the product's count and revenue, and those of all products.

        Args:
            product: whose price moves, in every market that lists it; all others stay.
            prices: the prices to try.
            markets: where they are asked; without it, in the markets of the fit.
            kind: the kind of frame, if another than that of the markets.
        """
        markets = markets or self.markets
        if not len(prices):
            raise InputError("prices is empty; give the prices to try.")
        ends = [markets.with_prices({product: float(end)}) for end in (min(prices), max(prices))]
        for end in ends:
            self._warn_of_far_prices(end)
        columns, rows = markets.columns, []
        for price in prices:
            asked = markets.with_prices({product: float(price)})
            table = Demand(self.parameters, asked).shares_table().drop_nulls(columns.price)
            revenue = pl.col(columns.price) * pl.col("count")
            own = pl.col(columns.product) == str(product)
            rows.append(
                table.select(
                    pl.lit(float(price)).alias("price"),
                    pl.col("count").filter(own).sum().alias("count"),
                    revenue.filter(own).sum().alias("revenue"),
                    pl.col("count").sum().alias("count of all"),
                    revenue.sum().alias("revenue of all"),
                )
            )
        return from_polars(pl.concat(rows), kind or markets.kind)

    def best_prices(
        self,
        products: Sequence[Label] | None = None,
        markets: Markets | None = None,
        kind: str | None = None,
    ) -> Any:
        """One row per product and aim: the price that earns most, each price moved alone.

        The aims are the product's own revenue and that of all products together; costs are not
        known. Only prices between the lowest and the highest offered are tried: where the best
        is one of these two (`at the edge`), a better one may lie beyond. Products that were
        offered at one price only are left out.
        """
        markets = markets or self.markets

        def curve(product: Label, prices: np.ndarray) -> pl.DataFrame:
            found: pl.DataFrame = self.demand_curve(product, prices, markets, "polars")
            return found

        return from_polars(best_prices_table(curve, markets, products), kind or markets.kind)

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

    def facts(self) -> dict[str, Any]:
        markets = self.markets
        return {
            "markets": repr(markets),
            "products": markets.products,
            "attributes": markets.attribute_names,
            "cohorts": markets.cohorts,
            "trained_on": self.training,
            "settings": self.settings.as_dict(),
        }

    def tables(self) -> dict[str, pl.DataFrame]:
        return {**super().tables(), "Types of choosers": self.segments("polars")}

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        facts, tensors = markets_stored(self.markets)
        about = {"settings": self.settings.as_dict(), "training": self.training}
        return {**about, "markets": facts}, tensors

    @classmethod
    def restored(cls, facts: dict[str, Any], tensors: Tensors) -> "ChoiceFit":
        markets = markets_from(declared.part(facts, "markets"), tensors)
        settings = ChoiceSettings(**declared.part(facts, "settings"))
        blank = ChoiceStart.blank(len(markets.attribute_names))
        with computing():
            template = first_demand(settings, blank, len(markets.cohorts), np.random.default_rng(0))
            runs = restored_runs(facts["runs"], tensors, template)
        training = declared.labels(facts, "training")
        if not training or not set(training) <= set(markets.markets):
            raise ValueError("training names a market that the file does not hold")
        return cls(settings, markets, training, runs)

    def _demand(self, markets: Markets | None) -> Demand:
        if markets is None:
            return Demand(self.parameters, self.markets)
        self.markets.refuse_different(markets, "these markets")
        self._warn_of_far_prices(markets)
        return Demand(self.parameters, markets)

    def _warn_of_far_prices(self, markets: Markets) -> None:
        low, high = self.price_range
        reach = FAR * (high - low)
        price = np.where(markets.available, markets.price, low)
        far = np.argwhere((price < low - reach) | (price > high + reach))
        if not len(far):
            return
        market, slot = far[0]
        more = f" and {len(far) - 1} more" if len(far) > 1 else ""
        warnings.warn(
            f"price {price[market, slot]:g} of product "
            f"{markets.products[markets.product[market, slot]]} in market "
            f"{markets.markets[market]}{more} lies far outside the prices trained on, {low:g} to "
            f"{high:g}; what is said about it is extrapolated.",
            UserWarning,
            stacklevel=4,
        )
