"""A user's table of offers, read and checked: one row per market and product.

Every refusal names the row, market, product, column and value at fault and
says what to do. Nothing is dropped or repaired.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from dgd.errors import InputError
from dgd.tables import checks
from dgd.tables.checks import LARGEST_COUNT, ROW

CONSTANT = "constant"
"""The attribute that is 1 for every product: the value of buying at all."""
OUTSIDE = "outside"
"""How the option of buying nothing is named in result tables."""
RESULTS = ("share", "revenue", "surplus", "opportunities", "seed", "type", "to", "price of")
"""Column names of result tables that a key column must not have."""


@dataclass(frozen=True)
class OfferColumns:
    """The user's own names for the columns of a table of offers."""

    market: str = "market"
    product: str = "product"
    price: str = "price"
    count: str | None = "count"
    """`None` where nothing has been counted yet."""
    available: str = "available"
    cohort: str = "cohort"

    @property
    def keys(self) -> list[str]:
        return [self.market, self.product]

    @property
    def taken(self) -> list[str]:
        counted = [] if self.count is None else [self.count]
        return [*self.keys, self.price, *counted, self.available, self.cohort]


def check_names(columns: OfferColumns, attributes: Sequence[str], constant: bool) -> None:
    """Refuse column names that are repeated or in use, before any table is read."""
    if isinstance(attributes, str):
        raise InputError(f'attributes is the text "{attributes}"; give a list, ["{attributes}"].')
    if not attributes and not constant:
        raise InputError("attributes is empty; name at least one column or keep constant=True.")
    twice = [name for name in attributes if list(attributes).count(name) > 1]
    if twice:
        raise InputError(f'attributes names "{twice[0]}" twice; name each column once.')
    if CONSTANT in attributes:
        raise InputError(
            f'attributes names "{CONSTANT}", which is dgd\'s own; leave it out for constant=True '
            "to add it, or rename the column."
        )
    taken = [name for name in attributes if name in columns.taken]
    if taken:
        raise InputError(f'attributes names "{taken[0]}", which is in use; rename that column.')
    clash = [name for name in columns.taken if columns.taken.count(name) > 1 or name in RESULTS]
    if clash:
        raise InputError(
            f'column "{clash[0]}" is named twice or has a name dgd uses itself; rename it.'
        )


def read_offers(
    table: pl.DataFrame, columns: OfferColumns, attributes: Sequence[str], name: str = "table"
) -> pl.DataFrame:
    """The rows of `table` with every column checked and of one type."""
    checks.refuse_empty(table, name, "hand over at least one market")
    table = checks.number_rows(table)
    table = _read_keys(table, name, columns)
    table = _read_available(table, name, columns)
    reader = _Cells(name, columns)
    table = reader.numbers(table, columns.price, where=pl.col(columns.available))
    reader.refuse(
        table, columns.price, pl.col(columns.price) < 0,
        "is negative; write what a buyer pays.",
    )  # fmt: skip
    for attribute in attributes:
        table = reader.numbers(table, attribute, where=pl.lit(True))
    if columns.count is not None:
        table = reader.counts(table, columns.count)
        reader.refuse(
            table, columns.count, ~pl.col(columns.available) & (pl.col(columns.count) > 0),
            "were counted of a product that was not available; correct the count or "
            f"{columns.available}.",
        )  # fmt: skip
    checks.refuse_duplicates(table, name, columns.keys, "an offer")
    _refuse_empty_markets(table, name, columns)
    counted = [] if columns.count is None else [columns.count]
    kept = [*columns.keys, columns.price, columns.available, *attributes, *counted]
    return table.select(*kept, ROW)


def _read_keys(table: pl.DataFrame, name: str, columns: OfferColumns) -> pl.DataFrame:
    for column in columns.keys:
        checks.read_labels(table, name, column)
        if not (table.schema[column].is_integer() or table.schema[column] == pl.String):
            table = table.with_columns(pl.col(column).cast(pl.String))
    if table.schema[columns.product] == pl.String:
        checks.refuse(
            table, name, columns.product, pl.col(columns.product) == OUTSIDE,
            "is how dgd names buying nothing; give its count as `outside`, or rename the product.",
        )  # fmt: skip
    return table


def _read_available(table: pl.DataFrame, name: str, columns: OfferColumns) -> pl.DataFrame:
    column = columns.available
    checks.require_columns(table, name, [column])
    value = pl.col(column)
    if table.schema[column] == pl.Boolean:
        bad = value.is_null()
    elif table.schema[column].is_numeric():
        bad = value.is_null() | ((value != 0) & (value != 1))
    else:
        bad = pl.lit(True)
    way_out = "is neither 0 nor 1; write 1 where the product could be bought."
    _Cells(name, columns).refuse(table, column, bad, way_out)
    return table.with_columns(value.cast(pl.Boolean))


def _refuse_empty_markets(table: pl.DataFrame, name: str, columns: OfferColumns) -> None:
    offered = table.group_by(columns.market, maintain_order=True).agg(
        pl.col(columns.available).sum().alias("offered")
    )
    empty = offered.filter(pl.col("offered") == 0)
    if empty.height:
        raise InputError(
            f"{name}: market {empty.item(0, columns.market)} has no available product, column "
            f"{columns.available} is 0 throughout; leave the market out."
        )


@dataclass(frozen=True)
class _Cells:
    """Readers of one value per market and product."""

    table_name: str
    columns: OfferColumns

    def refuse(self, table: pl.DataFrame, column: str, bad: pl.Expr, way_out: str) -> None:
        """Raise for the first row where `bad` holds, saying how many more there are."""
        rows = table.filter(bad)
        if rows.height == 0:
            return
        first = rows.row(0, named=True)
        value = first[column]
        shown = "missing" if value is None else f'"{value}"' if isinstance(value, str) else value
        more = f" (and {rows.height - 1} more rows)" if rows.height > 1 else ""
        raise InputError(
            f"{self.table_name} row {first[ROW]}, market {first[self.columns.market]}, product "
            f"{first[self.columns.product]}, column {column}: {shown}{more} {way_out}"
        )

    def numbers(self, table: pl.DataFrame, column: str, where: pl.Expr) -> pl.DataFrame:
        """Finite numbers wherever `where` holds; missing is `null` elsewhere."""
        checks.require_columns(table, self.table_name, [column])
        dtype = table.schema[column]
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            self.refuse(table, column, pl.lit(True), "is not a number; encode it as numbers.")
        value = pl.col(column).cast(pl.Float64)
        bad = value.is_null() | ~value.is_finite()
        way_out = "is not a finite number; fill it in or drop the row."
        self.refuse(table, column, where & bad.fill_null(True), way_out)
        return table.with_columns(pl.when(bad).then(None).otherwise(value).alias(column))

    def counts(self, table: pl.DataFrame, column: str) -> pl.DataFrame:
        """Whole counts from zero on."""
        table = self.numbers(table, column, where=pl.lit(True))
        value = pl.col(column)
        self.refuse(table, column, value < 0, "is negative; counts start at 0.")
        self.refuse(table, column, value != value.floor(), "is not whole; counts are whole.")
        too_large = "is too large to be a count; correct it."
        self.refuse(table, column, value > LARGEST_COUNT, too_large)
        return table
