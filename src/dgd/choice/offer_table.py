"""A user's table of offers, read and checked: one row per market and product.

Every refusal names the row, market, product, column and value at fault and
says what to do. Nothing is dropped or repaired.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import polars as pl

from dgd.errors import InputError
from dgd.tables import checks, refusing
from dgd.tables.numbers import spelled_out, yes_or_no
from dgd.tables.refusing import ROW

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
    shares: bool = False
    """Whether the column of counts holds shares of the market instead."""
    firm: str | None = None
    """Who sets the price."""
    household: str | None = None
    """Whose repeated choices the markets are."""
    period: str | None = None
    """When the market was, where markets follow each other."""
    place: str | None = None
    """Where it was: a place carries its own experience from period to period."""
    absorb: tuple[str, ...] = ()
    """Columns of which every label has an effect of its own."""
    instruments: tuple[str, ...] = ()
    """Columns that move prices and nothing else."""

    @property
    def keys(self) -> list[str]:
        return [self.market, self.product]

    @property
    def per_market(self) -> list[str]:
        """Columns of labels that all rows of a market share."""
        return [name for name in (self.household, self.period, self.place) if name is not None]

    @property
    def marks(self) -> list[str]:
        """Columns of labels beside market and product, each once."""
        firm = [] if self.firm is None else [self.firm]
        return list(dict.fromkeys([*firm, *self.per_market, *self.absorb]))

    @property
    def taken(self) -> list[str]:
        counted = [] if self.count is None else [self.count]
        return [*self.keys, self.price, *counted, self.available, self.cohort]


def check_names(columns: OfferColumns, attributes: Sequence[str], constant: bool) -> None:
    """Refuse column names that are repeated or in use, before any table is read."""
    refusing.refuse_text(attributes, "attributes")
    if not attributes and not constant and not columns.absorb:
        raise InputError("attributes is empty; name at least one column or keep constant=True.")
    refusing.refuse_repeated(attributes, "attributes")
    refusing.refuse_repeated(columns.instruments, "instruments")
    refusing.refuse_repeated(columns.absorb, "absorb")
    known = [name for name in columns.instruments if name in attributes]
    if known:
        raise InputError(
            f'instruments names "{known[0]}", which is an attribute; attributes explain prices '
            "already: an instrument moves prices and is nothing that buyers look at."
        )
    if CONSTANT in attributes:
        raise InputError(
            f'attributes names "{CONSTANT}", which is dgd\'s own; leave it out and let dgd '
            "add it, or rename the column."
        )
    for given, names in (("instruments", columns.instruments), ("absorb", columns.absorb)):
        reserved = columns.taken[2:] if given == "absorb" else columns.taken
        used = [name for name in names if name in reserved]
        if used:
            raise InputError(f'{given} names "{used[0]}", which is in use; name another column.')
    taken = [name for name in attributes if name in columns.taken]
    if taken:
        raise InputError(f'attributes names "{taken[0]}", which is in use; rename that column.')
    beside = [name for name in columns.taken if name != columns.count]
    clash = [name for name in columns.taken if columns.taken.count(name) > 1]
    clash += [name for name in beside if name in RESULTS]
    if clash:
        raise InputError(
            f'column "{clash[0]}" is named twice or has a name dgd uses itself; rename it.'
        )


def read_offers(
    table: pl.DataFrame, columns: OfferColumns, attributes: Sequence[str], name: str = "table"
) -> pl.DataFrame:
    """The rows of `table` with every column checked and of one type."""
    refusing.refuse_empty(table, name, "hand over at least one market")
    table = refusing.number_rows(table)
    table = _read_keys(table, name, columns)
    table = _read_available(table, name, columns)
    _refuse_empty_markets(table, name, columns)
    table = _read_prices(table, name, columns)
    for attribute in (*attributes, *columns.instruments):
        table = checks.read_values(table, name, attribute, columns.keys)
    for mark in columns.marks:
        table = _read_mark(table, name, mark, columns)
    if columns.count is not None:
        table = _read_sales(table, name, columns.count, columns)
        refusing.refuse(
            table, name, columns.count,
            ~pl.col(columns.available) & (pl.col(columns.count) > 0),
            "were counted of a product that was not available; correct the count or "
            f"{columns.available}.",
            columns.keys,
        )  # fmt: skip
    refusing.refuse_duplicates(table, name, columns.keys, "an offer")
    counted = [] if columns.count is None else [columns.count]
    kept = [*columns.keys, columns.price, columns.available, *attributes, *counted]
    beside = [*columns.instruments, *columns.marks]
    return table.select(*dict.fromkeys([*kept, *beside]), ROW)


def _read_sales(table: pl.DataFrame, name: str, column: str, columns: OfferColumns) -> pl.DataFrame:
    """How much was sold: counts, volumes with fractions, or shares of the market."""
    table = checks.read_values(table, name, column, columns.keys)
    value = pl.col(column)
    low = "is negative; sales start at 0."
    refusing.refuse(table, name, column, value < 0, low, columns.keys)
    if columns.shares:
        high = "is above 1; shares are parts of everyone who could have bought."
        refusing.refuse(table, name, column, value > 1, high, columns.keys)
    else:
        high = "is too large to be a count; correct it."
        refusing.refuse(table, name, column, value > checks.LARGEST_COUNT, high, columns.keys)
    return table


def _read_mark(table: pl.DataFrame, name: str, column: str, columns: OfferColumns) -> pl.DataFrame:
    """Labels in every row of `column`; those of a market are one where they speak of it."""
    table = _read_label(table, name, column)
    if column in columns.per_market:
        differ = pl.col(column) != pl.col(column).first().over(columns.market)
        way_out = "is not what the market's first row has; give all rows of a market the same."
        refusing.refuse(table, name, column, differ, way_out, columns.keys)
    return table


def _read_label(table: pl.DataFrame, name: str, column: str) -> pl.DataFrame:
    checks.read_labels(table, name, column)
    if table.schema[column].is_integer() or table.schema[column] == pl.String:
        return table
    return table.with_columns(pl.col(column).cast(pl.String))


def _read_keys(table: pl.DataFrame, name: str, columns: OfferColumns) -> pl.DataFrame:
    table = reduce(lambda read, key: _read_label(read, name, key), columns.keys, table)
    if table.schema[columns.product] == pl.String:
        refusing.refuse(
            table, name, columns.product, pl.col(columns.product) == OUTSIDE,
            "is how dgd names buying nothing; give its count as `outside`, or rename the product.",
        )  # fmt: skip
    return table


def _read_available(table: pl.DataFrame, name: str, columns: OfferColumns) -> pl.DataFrame:
    column = columns.available
    refusing.require_columns(table, name, [column])
    table = yes_or_no(table, column)
    way_out = "is neither 0 nor 1; write 1 where the product could be bought."
    bad = checks.neither_0_nor_1(table, column)
    refusing.refuse(table, name, column, bad, way_out, columns.keys)
    return table.with_columns(pl.col(column).cast(pl.Boolean))


def _read_prices(table: pl.DataFrame, name: str, columns: OfferColumns) -> pl.DataFrame:
    """Finite prices of all that is available; a price that is missing elsewhere is `null`."""
    column, keys = columns.price, columns.keys
    refusing.require_columns(table, name, [column])
    table = spelled_out(table, name, column, "write what a buyer pays.", keys)
    checks.read_values(table.filter(columns.available), name, column, keys)
    value = pl.col(column).cast(pl.Float64)
    table = table.with_columns(pl.when(value.is_finite()).then(value).alias(column))
    way_out = "is negative; write what a buyer pays."
    refusing.refuse(table, name, column, pl.col(column) < 0, way_out, keys)
    return table


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
