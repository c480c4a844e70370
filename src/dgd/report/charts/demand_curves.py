"""What a price sells and earns: demand as one price moves."""

from collections.abc import Sequence
from dataclasses import replace

import altair as alt
import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.choice import ChoiceFit, Markets
from dgd.choice.best_prices import offered
from dgd.choice.product_labels import label_column
from dgd.report.charts.colors import label_scale
from dgd.tables.labels import Label

PRICES_TRIED = 25
CURVES = 6
"""So many products are shown where none are named."""
TITLES = {
    "count": "sold of the product",
    "revenue": "revenue of the product",
    "revenue of all": "revenue of all products",
}
"""The measures, and what the axes call them."""
WIDTH, NARROW, IN_A_ROW = 560, 190, 3
MOST_SQUEEZED = 3.0
"""How many times wider than a product's own prices those of another on its axis may be."""


def demand_curve_table(
    fit: ChoiceFit,
    products: Sequence[Label] | None = None,
    prices: Sequence[float] | np.ndarray | None = None,
    markets: Markets | None = None,
) -> pl.DataFrame:
    """One row per product, price and measure: its mean over seeds, and the seeds' extremes.

    The measures are the product's count and revenue, and the revenue of all products.

    Args:
        fit: whose demand it is.
        products: whose prices to move, each alone; without them, the few that sell most.
        prices: those to try; without them, from the lowest to the highest the product was
            offered at.
        markets: where the prices are asked, wherever the product is listed; without them, in
            the markets of the fit.
    """
    markets = markets or fit.markets
    parts = []
    for product in sold_most(fit, markets, CURVES) if products is None else products:
        asked = _tried(markets, product) if prices is None else np.asarray(prices, float)
        curves = pl.concat(
            replace(fit, runs=(run,)).demand_curve(product, asked, markets, "polars")
            for run in fit.runs
        )
        long = curves.unpivot(list(TITLES), index="price", variable_name="measure")
        value = pl.col("value")
        spread = long.group_by("measure", "price", maintain_order=True).agg(
            value.mean(), value.min().alias("lowest"), value.max().alias("highest")
        )
        places = np.full(spread.height, markets.products.index(product))
        named = label_column("product", markets.products, places)
        parts.append(spread.select(named, pl.all()))
    return pl.concat(parts)


def demand_curve_chart(
    fit: ChoiceFit,
    products: Sequence[Label] | None = None,
    prices: Sequence[float] | np.ndarray | None = None,
    markets: Markets | None = None,
) -> alt.ConcatChart | alt.VConcatChart:
    """What each price sells and earns: a line per product, a band between the seeds' extremes.

    Products whose prices are far apart have panels and axes of their own. The arguments are those
    of `demand_curve_table`.
    """
    table = demand_curve_table(fit, products, prices, markets)
    table = table.with_columns(pl.col("product").cast(pl.String))
    title = "Demand when one price moves: mean over seeds, and their range"
    named = table["product"].unique(maintain_order=True).to_list()
    colors = label_scale(named)
    if not _far_apart(table):
        legend = alt.Legend(symbolType="stroke", symbolOpacity=1.0, symbolStrokeWidth=3)
        color = alt.Color("product:N", title="product", scale=colors, legend=legend)
        return alt.vconcat(*_measures(table, color, WIDTH)).properties(title=title)
    unnamed = alt.Color("product:N", scale=colors, legend=None)
    each = [
        alt.vconcat(
            *_measures(table.filter(pl.col("product") == product), unnamed, NARROW)
        ).properties(title=alt.TitleParams(product, anchor="start"))
        for product in named
    ]
    return alt.concat(*each, columns=IN_A_ROW, spacing=40).properties(title=title)


def _far_apart(table: pl.DataFrame) -> bool:
    """Whether curves on one axis of prices would be squeezed, or leave a gap between them."""
    price = pl.col("price")
    spans = table.group_by("product").agg(low=price.min(), high=price.max()).sort("low")
    low, high = spans["low"].to_numpy(), spans["high"].to_numpy()
    squeezed = (high - low).max() > MOST_SQUEEZED * (high - low).min()
    gap = (low[1:] > np.maximum.accumulate(high)[:-1]).any()
    return bool(spans.height > 1 and (squeezed or gap))


def _measures(table: pl.DataFrame, color: alt.Color, width: int) -> list[alt.LayerChart]:
    """A panel for each measure."""
    x = alt.X("price:Q", title="price of the product", scale=alt.Scale(zero=False, nice=False))
    panels = []
    for measure, title in TITLES.items():
        base = alt.Chart(table.filter(pl.col("measure") == measure)).encode(x=x, color=color)
        y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=measure == "count"))
        line = base.mark_line(strokeWidth=2).encode(y=y)
        band = base.mark_area(opacity=0.2, line=False).encode(
            y=alt.Y("lowest:Q", title=title), y2="highest:Q"
        )
        panels.append(alt.LayerChart(layer=[band, line], width=width, height=150))
    return panels


def sold_most(fit: ChoiceFit, markets: Markets, most: int) -> list[Label]:
    """The products expected to sell most, in the order of the table."""
    if len(markets.products) <= most:
        return list(markets.products)
    columns = markets.columns
    sold = fit.predict(markets, "polars").drop_nulls(columns.price).group_by(columns.product)
    found = set(sold.agg(pl.col("count").sum()).top_k(most, by="count")[columns.product])
    return [product for product in markets.products if product in found]


def _tried(markets: Markets, product: Label) -> Float[np.ndarray, " price"]:
    """Prices between the lowest and highest at which `product` was offered."""
    known = offered(markets, product)
    if np.ptp(known) == 0:
        return known[0] * np.linspace(0.8, 1.2, PRICES_TRIED)
    return np.linspace(known.min(), known.max(), PRICES_TRIED)
