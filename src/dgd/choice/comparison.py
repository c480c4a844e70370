"""What a change does: demand before and after, side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.choice.demand import Demand
from dgd.choice.product_labels import are_numbers, is_outside, outside_named
from dgd.choice.surplus import warn_of_careless
from dgd.choice.uncertainty import with_ranges
from dgd.errors import InputError, few
from dgd.panel.grids import label_indices
from dgd.runtime import computing
from dgd.tables.frames import from_polars
from dgd.tables.html import html_summary


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Demand in two versions of the same markets; every table has one row per measure, with
    the columns `base`, `changed` and `difference`."""

    base: Demand
    changed: Demand
    others: tuple["Comparison", ...] = ()
    """The same for parameters that the counts allow as well."""
    far: float = 0.0
    """How many standard errors the range of a difference goes to either side."""

    def __post_init__(self) -> None:
        before, after = self.base.markets, self.changed.markets
        if before.markets != after.markets:
            raise InputError(
                f"the changed markets are {few(after.markets, 3)}, the base has "
                f"{few(before.markets, 3)}; compare the same markets in the same order."
            )
        if before.columns.keys != after.columns.keys:
            raise InputError(
                f"the changed markets name their keys {', '.join(after.columns.keys)}, the base "
                f"{', '.join(before.columns.keys)}; make both the same way."
            )
        if are_numbers(before.products) != are_numbers(after.products):
            raise InputError(
                f"the changed markets have products like {after.products[0]!r}, the base like "
                f"{before.products[0]!r}; label both by texts or both by whole numbers."
            )

    def products(self, kind: str | None = None) -> Any:
        """Price, share, count and revenue of every market and product, and buying nothing."""
        return self._shown(Comparison._products, kind)

    def _products(self) -> pl.DataFrame:
        before, after = (_by_product(demand) for demand in (self.base, self.changed))
        columns = self.base.markets.columns
        keys = [columns.market, columns.product]
        table = before.join(
            after,
            on=[*keys, "measure"],
            how="full",
            coalesce=True,
            nulls_equal=True,
            suffix=" new",
            maintain_order="left_right",
        )
        market = label_indices(table[columns.market], self.base.markets.markets)
        table = table[np.argsort(market, stable=True)]
        sold = pl.col("measure") != "price"
        base, changed = (
            pl.when(sold).then(pl.col(name).fill_null(0.0)).otherwise(pl.col(name)).alias(name)
            for name in ("value", "value new")
        )
        return _with_difference(table.with_columns(base, changed))

    def payload(self) -> dict[str, Any]:
        """Every product, and all markets together, as plain values."""
        return {
            "rows": self.products("polars").to_dicts(),
            "total": self.total("polars").to_dicts(),
        }

    def markets(self, kind: str | None = None) -> Any:
        """Products sold, revenue and consumer surplus of every market."""
        if not self._only_prices_change:
            warn_of_careless(self.base.parameters, self._surplus_gained)
        return self._shown(Comparison._markets, kind)

    def total(self, kind: str | None = None) -> Any:
        """Products sold, revenue and consumer surplus of all markets together."""
        if not self._only_prices_change:
            warn_of_careless(self.base.parameters, self._surplus_gained)
        return self._shown(Comparison._total, kind)

    def _markets(self) -> pl.DataFrame:
        return _with_difference(self._by_market())

    def _total(self) -> pl.DataFrame:
        table = self._by_market().group_by("measure", maintain_order=True)
        return _with_difference(table.agg(pl.col("value", "value new").sum()))

    @property
    def _only_prices_change(self) -> bool:
        before, after = self.base.markets, self.changed.markets
        return before.products == after.products and all(
            np.array_equal(getattr(before, grid), getattr(after, grid))
            for grid in ("product", "available", "attributes")
        )

    @property
    def _surplus_gained(self) -> Float[np.ndarray, "seed market cohort node"]:
        return self.changed.surplus_at_nodes - self.base.surplus_at_nodes

    def __repr__(self) -> str:
        moved = ", ".join(
            f"{measure} {difference:+,.2f}"
            for measure, difference in self._total().select("measure", "difference").iter_rows()
        )
        return f"Comparison({len(self.base.markets.markets)} markets: {moved})"

    def _repr_html_(self) -> str:
        tables = {
            "All markets together": self._total(),
            "Every product": outside_named(self._products(), self.base.markets.columns.product),
        }
        return html_summary(repr(self), (), tables)

    def _by_market(self) -> pl.DataFrame:
        before, after = (_of_market(demand) for demand in (self.base, self.changed))
        return before.with_columns(after["value"].alias("value new"))

    def _shown(self, made: Callable[["Comparison"], pl.DataFrame], kind: str | None) -> Any:
        """What is `made` of the comparison, with ranges where others give them."""
        table = made(self)
        if self.others:
            with computing():
                drawn = [made(one) for one in self.others]
            table = with_ranges(table, drawn, ["difference"], self.far)
        return from_polars(table, kind or self.base.markets.kind)


def _with_difference(table: pl.DataFrame) -> pl.DataFrame:
    difference = (pl.col("value new") - pl.col("value")).alias("difference")
    return table.with_columns(difference).rename({"value": "base", "value new": "changed"})


def _by_product(demand: Demand) -> pl.DataFrame:
    columns = demand.markets.columns
    table = demand.shares_table().with_columns(revenue=pl.col(columns.price) * pl.col("count"))
    table = table.rename({columns.price: "price"})
    keys = [columns.market, columns.product]
    long = _long(table, keys, ["price", "share", "count", "revenue"])
    nothing = is_outside(columns.product, demand.markets.products)
    return long.filter(~nothing | pl.col("measure").is_in(["share", "count"]))


def _of_market(demand: Demand) -> pl.DataFrame:
    columns = demand.markets.columns
    rows = demand.shares_table().filter(pl.col(columns.price).is_not_null())
    revenue = (pl.col(columns.price) * pl.col("count")).sum()
    table = rows.group_by(columns.market, maintain_order=True).agg(
        pl.col("count").sum().alias("sold"), revenue.alias("revenue")
    )
    table = table.with_columns(demand.surplus_table()["surplus"])
    return _long(table, [columns.market], ["sold", "revenue", "surplus"])


def _long(table: pl.DataFrame, keys: list[str], measures: list[str]) -> pl.DataFrame:
    """One row per key and measure, the measures of a key next to each other."""
    numbered = table.with_row_index("row")
    long = numbered.unpivot(measures, index=["row", *keys], variable_name="measure")
    return long.sort("row", maintain_order=True).drop("row")
