"""How many chose in each market, and which cohorts they came from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float
from narwhals.typing import IntoFrame

from dgd.choice.offer_table import OfferColumns
from dgd.errors import InputError
from dgd.tables import checks, refusing
from dgd.tables.frames import from_mapping, to_polars
from dgd.tables.labels import Label
from dgd.tables.refusing import ROW

PerMarket = str | float | Mapping[Label, float] | IntoFrame
"""A column of the table of offers, one number, {market: number}, or a table of its own."""
ROUNDED = 0.01
"""How far shares of all that was chosen may be from one together."""


def opportunities(
    offers: pl.DataFrame,
    columns: OfferColumns,
    markets: Sequence[Label],
    sales: Float[np.ndarray, " market"],
    outside: PerMarket | bool | None,
    market_size: PerMarket | None,
) -> Float[np.ndarray, " market"]:
    """How many could have bought in each market, from whichever of the two was given."""
    counted = columns.count is not None
    if outside is True:
        raise InputError(
            "outside is True; say how many bought nothing, or how many could have bought as "
            "market_size: outside=False is for choices among the products alone."
        )
    if outside is False:
        return _all_choose(columns, markets, sales, market_size, offers)
    if columns.shares:
        return _size_of_shares(columns, markets, sales, outside, market_size, offers)
    if outside is not None and market_size is not None:
        raise InputError(
            "both outside and market_size were given; one follows from the other: leave one out."
        )
    if outside is not None:
        if not counted:
            raise InputError("outside was given without counts; give market_size instead.")
        size = sales + market_values(outside, "outside", offers, columns, markets)
    elif market_size is not None:
        size = market_values(market_size, "market_size", offers, columns, markets)
    elif counted:
        raise InputError(
            "neither outside nor market_size was given; say how many bought nothing, or how "
            "many could have bought: shares need it."
        )
    else:
        size = np.ones(len(markets))
    _refuse_small_markets(size, sales, markets)
    return size


def _all_choose(
    columns: OfferColumns,
    markets: Sequence[Label],
    sales: Float[np.ndarray, " market"],
    market_size: PerMarket | None,
    offers: pl.DataFrame,
) -> Float[np.ndarray, " market"]:
    """Opportunities where nobody could buy nothing: as many as were taken."""
    if columns.count is not None and not columns.shares:
        if market_size is not None:
            raise InputError(
                "market_size was given with outside=False; where everyone buys, as many could "
                "have bought as did: leave it out."
            )
        _refuse_small_markets(sales, sales, markets)
        return sales
    if columns.shares:
        _refuse_partial(columns, markets, sales)
    if market_size is None:
        return np.ones(len(markets))
    size = market_values(market_size, "market_size", offers, columns, markets)
    _refuse_small_markets(size, 0 * size, markets)
    return size


def _refuse_partial(
    columns: OfferColumns, markets: Sequence[Label], shares: Float[np.ndarray, " market"]
) -> None:
    """Refuse shares that leave more than was rounded away to those who bought nothing."""
    wrong = np.flatnonzero(np.abs(shares - 1) > ROUNDED)
    if len(wrong):
        raise InputError(
            f"market {markets[wrong[0]]}, {columns.count}: shares add up to "
            f"{shares[wrong[0]]:g} and not to 1, though outside=False says that everyone buys: "
            "correct them, or leave outside away."
        )


def _size_of_shares(
    columns: OfferColumns,
    markets: Sequence[Label],
    shares: Float[np.ndarray, " market"],
    outside: PerMarket | None,
    market_size: PerMarket | None,
    offers: pl.DataFrame,
) -> Float[np.ndarray, " market"]:
    """One opportunity in every market, unless sizes say otherwise; shares cannot exceed it."""
    if outside is not None:
        raise InputError(
            "outside was given with shares; what the shares of a market leave is the part that "
            "bought nothing: leave it out."
        )
    over = np.flatnonzero(shares > 1 + 1e-9)
    if len(over):
        raise InputError(
            f"market {markets[over[0]]}, {columns.count}: shares add up to {shares[over[0]]:g}; "
            "they are parts of everyone who could have bought: correct them."
        )
    size = np.ones(len(markets))
    if market_size is not None:
        size = market_values(market_size, "market_size", offers, columns, markets)
        _refuse_small_markets(size, 0 * size, markets)
    return size


def market_values(
    given: PerMarket,
    name: str,
    offers: pl.DataFrame,
    columns: OfferColumns,
    markets: Sequence[Label],
) -> Float[np.ndarray, " market"]:
    """One finite, non-negative number per market, however it was given."""
    where, column = name, name
    if isinstance(given, str):
        where, column = "table", given
        table = _one_per_market(offers, column, columns)
    elif isinstance(given, (int, float)):
        table = _own_table(dict.fromkeys(markets, given), name, columns)
    else:
        table = _own_table(given, name, columns)
    table = checks.read_values(table, where, column)
    negative = "is negative; write how many there were."
    refusing.refuse(table, where, column, pl.col(column) < 0, negative, [columns.market])
    return checks.keyed_values(table, where, [column], {columns.market: markets}, None)[:, 0]


def _own_table(given: Any, name: str, columns: OfferColumns) -> pl.DataFrame:
    if isinstance(given, Mapping):
        table = from_mapping(given, name, columns.market, name)
    else:
        table, _ = to_polars(given, name)
    refusing.refuse_empty(table, name)
    table = refusing.number_rows(table)
    checks.read_labels(table, name, columns.market)
    refusing.require_columns(table, name, [name])
    return table


def _one_per_market(offers: pl.DataFrame, column: str, columns: OfferColumns) -> pl.DataFrame:
    """The value of `column` in each market, refused where a market has two."""
    refusing.require_columns(offers, "table", [column])
    distinct = offers.unique([columns.market, column], keep="first", maintain_order=True)
    twice = distinct.filter(pl.col(columns.market).is_duplicated())
    if twice.height:
        market = twice.item(0, columns.market)
        rows = twice.filter(pl.col(columns.market) == market)
        raise InputError(
            f"table rows {rows.item(0, ROW)} and {rows.item(1, ROW)}, market {market}, column "
            f"{column}: {rows.item(0, column)} and {rows.item(1, column)} differ; give every row "
            "of a market the same value."
        )
    return distinct.select(ROW, columns.market, column)


def _refuse_small_markets(
    size: Float[np.ndarray, " market"],
    sales: Float[np.ndarray, " market"],
    markets: Sequence[Label],
) -> None:
    small = np.flatnonzero(size < sales)
    if len(small):
        at = small[0]
        raise InputError(
            f"market {markets[at]}, market_size: {size[at]:g} is below the {sales[at]:g} products "
            "sold there; a market holds everyone who could have bought: correct it."
        )
    empty = np.flatnonzero(size == 0)
    if len(empty):
        raise InputError(
            f"market {markets[empty[0]]} has nobody in it, its size is 0; leave the market out."
        )


def cohort_sizes(
    given: IntoFrame | Mapping[Label, float] | None, columns: OfferColumns, markets: Sequence[Label]
) -> tuple[tuple[Label, ...], Float[np.ndarray, "market cohort"]]:
    """n_g of every market: the cohorts' labels, sorted, and their reference sizes."""
    if given is None:
        return ("all",), np.ones((len(markets), 1))
    if isinstance(given, Mapping):
        table = from_mapping(given, "sizes", columns.cohort, "size")
    else:
        table, _ = to_polars(given, "sizes")
    refusing.refuse_empty(table, "sizes")
    table = refusing.number_rows(table)
    checks.read_labels(table, "sizes", columns.cohort)
    table = checks.read_values(table, "sizes", "size")
    refusing.refuse(table, "sizes", "size", pl.col("size") < 0, "is negative; sizes start at 0.")
    labels = tuple(table[columns.cohort].unique().sort().to_list())
    keys = {columns.market: markets, columns.cohort: labels}
    grid = checks.keyed_values(table, "sizes", ["size"], keys, None)[..., 0]
    sizes = np.broadcast_to(grid, (len(markets), len(labels))).copy()
    nobody = np.flatnonzero(sizes.sum(1) == 0)
    if len(nobody):
        raise InputError(
            f"sizes: every cohort of market {markets[nobody[0]]} has size 0; give one a size."
        )
    return labels, sizes
