"""Markets: what was offered where, at which price, and how many bought it.

The one form in which the choice model sees data. Markets are made from
tables, checked when they are made, and never change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int
from narwhals.typing import IntoFrame

from dgd.choice import counterfactual
from dgd.choice.formula import read_formula
from dgd.choice.grids import offer_grids
from dgd.choice.marks import Marks
from dgd.choice.offer_table import CONSTANT, OfferColumns, check_names, read_offers
from dgd.choice.product_labels import label_column
from dgd.choice.sizes import PerMarket, cohort_sizes, opportunities
from dgd.errors import InputError
from dgd.tables import refusing
from dgd.tables.frames import from_polars, to_polars
from dgd.tables.labels import Label


@dataclass(frozen=True, eq=False)
class Markets:
    """Offers and counts per market; markets may offer different products.

    A market's products stand in its first slots; the slots it does not need
    have product number -1 and are never available.
    """

    product: Int[np.ndarray, "market slot"]
    """Which of `products` stands in the slot; -1 where none does."""
    price: Float[np.ndarray, "market slot"]
    """What a buyer pays; NaN where no price is known."""
    available: Bool[np.ndarray, "market slot"]
    """Whether the product could be bought."""
    attributes: Float[np.ndarray, "market slot attribute"]
    """x: what is known of the product in this market."""
    count: Float[np.ndarray, "market slot"]
    """How many bought the product, or how much; 0 throughout where nothing was counted."""
    size: Float[np.ndarray, " market"]
    """Choice opportunities: everyone who could have bought, buyers included."""
    cohort_size: Float[np.ndarray, "market cohort"]
    """n_g: reference size of the cohort in the market; only proportions matter."""
    markets: tuple[Label, ...]
    products: tuple[Label, ...]
    attribute_names: tuple[str, ...]
    cohorts: tuple[Label, ...]
    columns: OfferColumns
    kind: str
    """The kind of frame the user handed over."""
    has_outside: bool = True
    """Whether anyone could buy nothing."""
    instruments: Float[np.ndarray, "market slot instrument"] = field(
        default_factory=lambda: np.zeros((0, 0, 0))
    )
    """What moves prices and nothing else."""
    marks: Mapping[str, Marks] = field(default_factory=dict)
    """Labels beside the offers, by the name of their column."""

    @classmethod
    def from_table(
        cls,
        table: IntoFrame,
        *,
        attributes: Sequence[str],
        market: str = "market",
        product: str = "product",
        price: str = "price",
        count: str | None = "count",
        share: str | None = None,
        available: str | None = None,
        outside: PerMarket | bool | None = None,
        market_size: PerMarket | None = None,
        sizes: IntoFrame | Mapping[Label, float] | None = None,
        cohort: str = "cohort",
        constant: bool = True,
        instruments: Sequence[str] = (),
        absorb: Sequence[str] = (),
        firm: str | None = None,
        household: str | None = None,
        period: str | None = None,
        place: str | None = None,
    ) -> "Markets":
        """Read a long table: one row per market and product.

        Args:
            table: a frame of any kind, pandas, Polars, PyArrow or DuckDB.
            attributes: one numeric column each; 0/1 columns can mark products or brands.
            market: the column of market labels.
            product: the column of product labels.
            price: the column of what a buyer pays.
            count: how many bought the product, or how much was sold where sales have
                fractions; `None` for markets whose sales are not known: they can be predicted,
                not fitted.
            share: the column of market shares, where a table has them instead of counts.
            available: a 0/1 column; without it every row could be bought. An unavailable
                product needs no price.
            outside: how many bought nothing. A column that is constant within a market,
                `{market: number}`, one number for all, or a table with the market and a
                column `outside`. `False` where everyone chose one of the products.
            market_size: how many could have bought, given likewise instead of `outside`.
                Without counts, and with shares, it may be left out: every market is then one
                opportunity, and predicted counts are shares.
            sizes: the cohorts' reference sizes n, as `{cohort: size}` or a table with
                `cohort` and `size` (and `market` where sizes differ); one cohort without it.
            cohort: the cohort column of `sizes`.
            constant: adds the attribute "constant", 1 for every product, so that the value
                of buying at all is learned beside the other attributes. The outside option
                is fixed at zero; without a constant, attributes and price alone must explain
                how many buy. Where there is no outside option there is no constant either.
            instruments: columns that move prices and are nothing buyers look at, such as
                costs: with them prices may follow what is known to sellers alone.
            absorb: columns of labels, such as the product or a city, of which each has an
                effect of its own that everyone values alike.
            firm: the column of who sets the price, for costs, markups and mergers.
            household: the column of who chose, where markets are the repeated choices of
                households: a household keeps its tastes from one choice to the next.
            period: the column of when the market was, in order, for `dynamics="feedback"`.
            place: the column of where it was: each place carries its own experience.
        """
        counted = count if share is None else share
        columns = OfferColumns(
            market, product, price, counted, available or "available", cohort, share is not None,
            firm, household, period, place, tuple(absorb), tuple(instruments),
        )  # fmt: skip
        has_outside = outside is not False
        constant = constant and has_outside
        check_names(columns, attributes, constant)
        offers, kind = to_polars(table, "table")
        if available is None:
            offers = _everything_available(offers)
        rows = read_offers(offers, columns, attributes)
        labels = tuple(rows[market].unique(maintain_order=True).to_list())
        names = (CONSTANT, *attributes) if constant else tuple(attributes)
        grids = offer_grids(rows, columns, names, labels)
        cohorts, cohort_size = cohort_sizes(sizes, columns, labels)
        per_market = refusing.number_rows(offers.with_columns(rows[market]))
        sales = grids["count"].sum(1)
        size = opportunities(per_market, columns, labels, sales, outside, market_size)
        if columns.shares:
            whole = 1.0 if has_outside else sales  # shares without an outside are rounded to one
            grids["count"] = grids["count"] * (size / whole)[:, None]
        return cls(
            **grids,
            size=size,
            has_outside=has_outside,
            cohort_size=cohort_size,
            markets=labels,
            attribute_names=names,
            cohorts=cohorts,
            columns=columns,
            kind=kind,
        )

    @classmethod
    def from_formula(cls, formula: str, table: IntoFrame, **options: Any) -> "Markets":
        """Read a long table as a formula says, like "sales ~ price | sugar + mushy".

        Args:
            formula: the column of counts, or share(column); then the price; then, after "|",
                attributes joined by "+", where 0 removes the constant and C(column) absorbs a
                column's labels; then, after another "|", instruments.
            table: a frame of any kind.
            options: those of `from_table` that the formula does not say.
        """
        return cls.from_table(table, **read_formula(formula).options(options))

    @property
    def counted(self) -> bool:
        """Whether sales are known."""
        return self.columns.count is not None

    @property
    def has_constant(self) -> bool:
        """Whether the first attribute is the constant, the value of buying at all."""
        return self.attribute_names[:1] == (CONSTANT,)

    @property
    def whole(self) -> bool:
        """Whether sales are counts of people; volumes and shares have fractions."""
        return not self.columns.shares and bool((self.count == np.floor(self.count)).all())

    @property
    def given_attributes(self) -> list[str]:
        """The attributes that are columns of the table: all but the constant."""
        return [name for name in self.attribute_names if name != CONSTANT]

    @property
    def sales(self) -> Float[np.ndarray, " market"]:
        """How many bought any product."""
        return np.asarray(self.count.sum(1))

    @property
    def outside(self) -> Float[np.ndarray, " market"]:
        """How many bought nothing."""
        return np.maximum(self.size - self.sales, 0.0)

    @property
    def listed(self) -> Bool[np.ndarray, "market slot"]:
        """Where a slot holds a product, available or not."""
        return self.product >= 0

    @property
    def price_range(self) -> tuple[float, float]:
        """The lowest and highest price at which anything could be bought."""
        prices = self.price[self.available]
        return float(prices.min()), float(prices.max())

    def select(self, labels: Sequence[Label]) -> "Markets":
        """Only the markets named, in the order of `labels`."""
        order = {label: index for index, label in enumerate(self.markets)}
        unknown = [label for label in labels if label not in order]
        if unknown:
            raise InputError(
                f"market {unknown[0]!r} is not among the {len(order)} markets, the first of which "
                f"is {self.markets[0]!r}; correct the label."
            )
        if not len(labels):
            raise InputError("no market was named; name at least one.")
        indices = np.array([order[label] for label in labels])
        width = int(self.listed[indices].sum(1).max())
        grids = ("product", "price", "available", "attributes", "count", "instruments")
        return replace(
            self,
            **{name: getattr(self, name)[indices, :width] for name in grids},
            marks={name: marks.at(indices, width) for name, marks in self.marks.items()},
            size=self.size[indices],
            cohort_size=self.cohort_size[indices],
            markets=tuple(self.markets[index] for index in indices),
        )

    def refuse_different(self, other: "Markets", name: str) -> None:
        """Refuse `other` markets that do not speak of the same attributes and cohorts."""
        for fact in ("attribute_names", "cohorts", "has_outside"):
            if getattr(other, fact) != getattr(self, fact):
                raise InputError(
                    f"{fact} of {name} are {getattr(other, fact)}, not {getattr(self, fact)}; "
                    "make both the same way."
                )

    def with_prices(self, prices: Mapping[Label, float] | IntoFrame) -> "Markets":
        """The markets with other prices; their sales are then not known.

        Args:
            prices: `{product: price}`, or a table with `product`, `price` and, where prices
                differ between markets, `market`.
        """
        return counterfactual.with_prices(self, prices)

    def with_scaled_prices(self, factors: Mapping[Label, float] | float) -> "Markets":
        """The markets with prices multiplied.

        Args:
            factors: one for all products, or `{product: factor}`.
        """
        return counterfactual.with_scaled_prices(self, factors)

    def with_attributes(self, values: Mapping[Label, Mapping[str, float]] | IntoFrame) -> "Markets":
        """The markets with other attributes.

        Args:
            values: `{product: {attribute: value}}`, or a table with `product`, the attributes
                that change and, where they differ, `market`. What is missing stays as it is.
        """
        return counterfactual.with_attributes(self, values)

    def with_products(self, offers: IntoFrame) -> "Markets":
        """The markets with more on offer.

        Args:
            offers: a table with `product`, `price`, every attribute and, where the product
                comes to some markets only, `market`.
        """
        return counterfactual.with_products(self, offers)

    def without_products(
        self, products: Sequence[Label], in_markets: Sequence[Label] | None = None
    ) -> "Markets":
        """The markets with some products no longer available.

        Args:
            products: labels of those taken away.
            in_markets: labels of the markets that lose them; without it, all do.
        """
        return counterfactual.without_products(self, products, in_markets)

    def rows(self) -> pl.DataFrame:
        """One row per market and product, as the table was read, the constant left out."""
        market, slot = np.nonzero(self.listed)
        product = self.product[market, slot]
        table = pl.DataFrame(
            [
                label_column(self.columns.market, self.markets, market),
                label_column(self.columns.product, self.products, product),
                pl.Series(self.columns.price, self.price[market, slot]).fill_nan(None),
                pl.Series(self.columns.available, self.available[market, slot]),
                *(
                    pl.Series(name, self.attributes[market, slot, a])
                    for a, name in enumerate(self.attribute_names)
                    if name != CONSTANT
                ),
                *(
                    pl.Series(name, self.instruments[market, slot, z])
                    for z, name in enumerate(self.columns.instruments)
                ),
                *(
                    label_column(name, marks.labels, marks.code[market, slot])
                    for name, marks in self.marks.items()
                    if name not in self.columns.keys
                ),
            ]
        )
        if self.columns.count is None:
            return table
        sold = self.count[market, slot] / (self.size[market] if self.columns.shares else 1.0)
        return table.with_columns(pl.Series(self.columns.count, sold))

    def to_frame(self, kind: str | None = None) -> Any:
        """The rows as a frame of the kind the user handed over."""
        return from_polars(self.rows(), kind or self.kind)

    def __repr__(self) -> str:
        sold = f", {self.sales.sum():,.0f} sold to {self.size.sum():,.0f}" if self.counted else ""
        return (
            f"Markets({len(self.markets)} markets, {len(self.products)} products, "
            f"{len(self.attribute_names)} attributes, {len(self.cohorts)} cohorts{sold})"
        )


def _everything_available(offers: pl.DataFrame) -> pl.DataFrame:
    if "available" in offers.columns:
        raise InputError(
            'table has a column "available" that was not named; say available="available" to use '
            "it, or drop it."
        )
    return offers.with_columns(pl.lit(True).alias("available"))
