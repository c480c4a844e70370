"""Everything a report tells of a fit of demand, computed once."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from dgd.choice import ChoiceFit
from dgd.errors import InputError
from dgd.report.charts.demand_curves import TITLES, demand_curve_table, sold_most
from dgd.report.charts.elasticities import elasticity_table

MOST_PRODUCTS = 12
"""Products whose prices can be turned on the page: the best sold."""
LEVEL = 90
"""In per cent, of the ranges on the page."""
MOST_RANGED = 20_000
"""Elasticities of which ranges are taken: each is worked out for hundreds of parameter sets."""


class FirmCosts(NamedTuple):
    """What products cost those who set their prices."""

    table: pl.DataFrame | None
    """One row per market and product; none where costs cannot be told."""
    warned: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ChoiceFindings:
    """A fit of demand and what was asked of it."""

    fit: ChoiceFit
    shares: pl.DataFrame
    """Per product: offers, mean price, what was sold and what the model expects."""
    elasticities: pl.DataFrame
    curves: pl.DataFrame
    best: pl.DataFrame
    segments: pl.DataFrame
    tables: dict[str, pl.DataFrame]
    """What the fit says of itself, its coefficients among them."""
    own: pl.DataFrame | None
    """Own elasticities in every market with their ranges, where there are any."""
    costs: FirmCosts | None
    """Where markets say whose products are whose."""
    warned: tuple[str, ...]
    """What the library warned of on the way."""


def choice_found(fit: ChoiceFit) -> ChoiceFindings:
    """Shares, elasticities, curves and best prices in the markets of the fit."""
    markets = fit.markets
    on_offer = {markets.products[at] for at in markets.product[markets.available]}
    products = [one for one in sold_most(fit, markets, MOST_PRODUCTS) if one in on_offer]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        curves = demand_curve_table(fit, products)
        best: pl.DataFrame = fit.best_prices(products, kind="polars")
    return ChoiceFindings(
        fit,
        _shares(fit),
        elasticity_table(fit),
        curves,
        best,
        fit.segments("polars"),
        fit.tables(),
        _own_elasticities(fit),
        _costs(fit),
        _said(caught),
    )


def has_ranges(fit: ChoiceFit) -> bool:
    """Whether the fit says how sure it is."""
    return fit.covariance is not None or fit.resampled is not None


def price_rows(found: ChoiceFindings) -> pl.DataFrame:
    """One row per product and price: every measure, and the usual price of the product. Products
    are texts, as the page's script has them."""
    markets = found.fit.markets
    usual = (
        markets.rows()
        .filter(pl.col(markets.columns.available))
        .group_by(pl.col(markets.columns.product).cast(pl.String).alias("product"))
        .agg(pl.col(markets.columns.price).median().alias("usual"))
    )
    wide = found.curves.pivot("measure", index=["product", "price"], values="value")
    return wide.select(pl.col("product").cast(pl.String), "price", *TITLES).join(
        usual, on="product", how="left", maintain_order="left"
    )


def _own_elasticities(fit: ChoiceFit) -> pl.DataFrame | None:
    """One row per market and product, with a range; none where the fit has no ranges or they
    would take too long."""
    rows = int((fit.markets.available.sum(1) ** 2).sum())
    if not has_ranges(fit) or rows > MOST_RANGED:
        return None
    found: pl.DataFrame = fit.elasticities(kind="polars", level=LEVEL)
    product = fit.markets.columns.product
    return found.filter(pl.col(product) == pl.col("price of")).drop("price of")


def _costs(fit: ChoiceFit) -> FirmCosts | None:
    """Costs and markups, or why there are none."""
    if fit.markets.columns.firm is None:
        return None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            table: pl.DataFrame | None = fit.firms().costs("polars")
        except InputError as error:
            return FirmCosts(None, (str(error),))
    return FirmCosts(table, _said(caught))


def _said(caught: Sequence[warnings.WarningMessage]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(one.message) for one in caught))


def _shares(fit: ChoiceFit) -> pl.DataFrame:
    columns = fit.markets.columns
    expected: pl.DataFrame = fit.predict(kind="polars")
    rows = fit.markets.rows().filter(pl.col(columns.available))
    product = pl.col(columns.product).alias("product")
    sold = (
        []
        if columns.count is None
        else [pl.col(columns.count).sum().round().cast(pl.Int64).alias("sold")]
    )
    counted = rows.group_by(product, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("offers"),
        pl.col(columns.price).mean().alias("mean price"),
        *sold,
    )
    foreseen = expected.group_by(product).agg(pl.col("count").sum().alias("expected"))
    return counted.join(foreseen, on="product", how="left", maintain_order="left")
