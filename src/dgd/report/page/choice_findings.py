"""Everything a report tells of a fit of demand, computed once."""

import warnings
from dataclasses import dataclass

import polars as pl

from dgd.choice import ChoiceFit
from dgd.report.charts.demand_curves import TITLES, demand_curve_table, sold_most
from dgd.report.charts.elasticities import elasticity_table

MOST_PRODUCTS = 12
"""Products whose prices can be turned on the page: the best sold."""


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
        tuple(dict.fromkeys(str(one.message) for one in caught)),
    )


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
