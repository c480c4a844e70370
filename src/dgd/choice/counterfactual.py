"""Markets as they might be: other prices, other attributes, more or fewer products.

Every change gives new `Markets` whose sales are not known, with the sizes and
cohorts of the old ones; the checks of a user's own table are made again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import polars as pl
from narwhals.typing import IntoFrame

from dgd.choice.grids import offer_grids
from dgd.choice.offer_table import OfferColumns, read_offers
from dgd.errors import InputError
from dgd.tables import checks, refusing
from dgd.tables.frames import to_polars
from dgd.tables.labels import Label
from dgd.tables.refusing import ROW


@runtime_checkable
class OfferedMarkets(Protocol):
    """What a change needs to know of `Markets`, a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def columns(self) -> OfferColumns: ...
    @property
    def markets(self) -> tuple[Label, ...]: ...
    @property
    def products(self) -> tuple[Label, ...]: ...
    @property
    def attribute_names(self) -> tuple[str, ...]: ...
    @property
    def given_attributes(self) -> list[str]: ...
    def rows(self) -> pl.DataFrame: ...


Changed = TypeVar("Changed", bound=OfferedMarkets)


def with_prices(markets: Changed, prices: Mapping[Label, float] | IntoFrame) -> Changed:
    """Other prices, where `prices` names a product, and a market if it has that column."""
    columns = markets.columns
    if isinstance(prices, Mapping):
        values = [float(price) for price in prices.values()]
        table = pl.DataFrame({columns.product: list(prices), columns.price: values})
    else:
        table = _table(prices, "prices")
    table = checks.read_values(_keyed(markets, table, "prices"), "prices", columns.price)
    return _replaced(markets, table, [columns.price])


def with_scaled_prices(markets: Changed, factors: Mapping[Label, float] | float) -> Changed:
    """Every price multiplied by its product's factor, 1 where none is given."""
    columns = markets.columns
    if not isinstance(factors, Mapping):
        factors = dict.fromkeys(markets.products, float(factors))
    values = [float(factor) for factor in factors.values()]
    table = pl.DataFrame({columns.product: list(factors), "factor": values})
    table = _keyed(markets, table, "factors")
    low = "is not positive; 1.1 raises a price by a tenth."
    refusing.refuse(table, "factors", "factor", ~(pl.col("factor") > 0), low)
    rows = markets.rows().join(
        table.drop(ROW), on=columns.product, how="left", maintain_order="left"
    )
    scaled = pl.col(columns.price) * pl.col("factor").fill_null(1.0)
    return _remade(markets, rows.with_columns(scaled).drop("factor"))


def with_attributes(
    markets: Changed, values: Mapping[Label, Mapping[str, float]] | IntoFrame
) -> Changed:
    """Other attributes, where `values` names a product, and a market if it has that column."""
    columns = markets.columns
    if isinstance(values, Mapping):
        table = _one_row_per_product(values, columns.product)
    else:
        table = _table(values, "attributes")
    changed = [name for name in table.columns if name not in columns.keys]
    known = markets.given_attributes
    strange = [name for name in changed if name not in known]
    if strange:
        raise InputError(
            f'attributes: "{strange[0]}" is not an attribute of the markets, which have '
            f"{', '.join(known) or 'none'}; correct the name."
        )
    table = _keyed(markets, table, "attributes")
    for name in changed:
        checks.read_values(table.drop_nulls(name), "attributes", name)
    return _replaced(markets, table, changed)


def _one_row_per_product(values: Mapping[Label, Mapping[str, float]], product: str) -> pl.DataFrame:
    """A column per attribute that any product changes, missing where a product keeps its own."""
    names = dict.fromkeys(name for changes in values.values() for name in changes)
    columns: dict[str, list[Any]] = {product: list(values)}
    for name in names:
        columns[name] = [changes.get(name) for changes in values.values()]
    return pl.DataFrame(columns, strict=False)


def with_products(markets: Changed, offers: IntoFrame) -> Changed:
    """More on offer; a product listed as unavailable gives way to its new offer."""
    columns = markets.columns
    table = _table(offers, "offers")
    given = markets.given_attributes
    refusing.require_columns(table, "offers", [columns.product, columns.price, *given])
    if columns.market not in table.columns:
        everywhere = markets.rows().select(columns.market).unique(maintain_order=True)
        table = everywhere.join(table, how="cross")
    else:
        _refuse_unknown(markets, refusing.number_rows(table), "offers", columns.market)
    rows = markets.rows()
    table = _with_keys_of(rows, table, "offers", columns.keys)
    table = _beside(rows, table, columns)
    added = table.with_columns(pl.lit(True).alias(columns.available)).select(
        name for name in rows.columns if name != columns.count
    )
    added = read_offers(added, replace(columns, count=None), given, "offers").drop(ROW)
    back = added.select(columns.keys).join(
        rows.filter(pl.col(columns.available)), on=columns.keys, how="semi"
    )
    if back.height:
        market, product = back.row(0)
        raise InputError(
            f"offers: product {product} is already on offer in market {market}; change its price "
            "or attributes instead."
        )
    kept = rows.join(added.select(columns.keys), on=columns.keys, how="anti", maintain_order="left")
    return _remade(markets, pl.concat([kept.select(added.columns), added]))


def _beside(rows: pl.DataFrame, table: pl.DataFrame, columns: OfferColumns) -> pl.DataFrame:
    """What new offers take from their market, or need not say: nobody asks what moved a price
    that is only thought of."""
    unsaid = [name for name in columns.instruments if name not in table.columns]
    table = table.with_columns(pl.lit(0.0).alias(name) for name in unsaid)
    shared = [name for name in columns.per_market if name not in table.columns]
    if shared:
        of_market = rows.group_by(columns.market).agg(pl.col(shared).first())
        table = table.join(of_market, on=columns.market, how="left", maintain_order="left")
    refusing.require_columns(table, "offers", columns.marks)
    return table


def without_products(
    markets: Changed, products: Sequence[Label], in_markets: Sequence[Label] | None
) -> Changed:
    """`products` no longer available; they stay listed, so that a comparison shows the loss."""
    columns = markets.columns
    refusing.refuse_text(products, "products")
    rows = markets.rows()
    for name, labels, known in (
        (columns.product, products, markets.products),
        (columns.market, in_markets or (), markets.markets),
    ):
        strange = [label for label in labels if label not in known]
        if strange:
            raise InputError(f"{name} {strange[0]!r} is not in the markets; correct the label.")
    gone = pl.col(columns.product).is_in(list(products))
    if in_markets is not None:
        gone = gone & pl.col(columns.market).is_in(list(in_markets))
    return _remade(markets, rows.with_columns(pl.col(columns.available) & ~gone))


def _with_keys_of(
    rows: pl.DataFrame, table: pl.DataFrame, name: str, keys: Sequence[str]
) -> pl.DataFrame:
    """`table` with labels of the type that `rows` has."""
    numbered = refusing.number_rows(table)
    for key in keys:
        label = pl.col(key).cast(rows.schema[key], strict=False)
        whole = "is not a whole number as the labels of the markets are; use one."
        refusing.refuse(numbered, name, key, label.is_null() & pl.col(key).is_not_null(), whole)
        numbered = numbered.with_columns(label)
    return numbered.drop(ROW)


def _table(frame: Any, name: str) -> pl.DataFrame:
    table, _ = to_polars(frame, name)
    return table


def _keyed(markets: Changed, table: pl.DataFrame, name: str) -> pl.DataFrame:
    """`table` with its rows numbered, each speaking of an offer that exists, once."""
    columns = markets.columns
    refusing.refuse_empty(table, name)
    table = refusing.number_rows(table)
    checks.read_labels(table, name, columns.product)
    keys = [key for key in columns.keys if key in table.columns]
    for key in keys:
        _refuse_unknown(markets, table, name, key)
    refusing.refuse_duplicates(table, name, keys, "a change")
    return table


def _refuse_unknown(markets: Changed, table: pl.DataFrame, name: str, key: str) -> None:
    labels = markets.markets if key == markets.columns.market else markets.products
    known = pl.col(key).cast(pl.String).is_in([str(label) for label in labels])
    way_out = "is not in the markets; correct the label."
    refusing.refuse(table, name, key, ~known, way_out)


def _replaced(markets: Changed, changes: pl.DataFrame, values: Sequence[str]) -> Changed:
    """The markets with `values` taken from `changes` wherever it has one."""
    rows = markets.rows()
    keys = [key for key in markets.columns.keys if key in changes.columns]
    new = _with_keys_of(rows, changes.drop(ROW), "changes", keys).select(
        *keys,
        *(pl.col(value).cast(pl.Float64).alias(f"new {value}") for value in values),
    )
    joined = rows.join(new, on=keys, how="left", maintain_order="left")
    return _remade(
        markets,
        joined.select(
            pl.coalesce(f"new {name}", name).alias(name) if name in values else name
            for name in rows.columns
        ),
    )


def _remade(markets: Changed, rows: pl.DataFrame) -> Changed:
    """Markets from changed rows, in the old order of markets, their sales no longer known."""
    columns = replace(markets.columns, count=None)
    checked = read_offers(rows, columns, markets.given_attributes, "the changed markets").drop(ROW)
    grids = offer_grids(checked, columns, markets.attribute_names, markets.markets)
    return replace(markets, **grids, columns=columns)
