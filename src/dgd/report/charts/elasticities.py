"""How sales answer to prices: every product to its own price, and to those of the others."""

import altair as alt
import polars as pl

from dgd.choice import ChoiceFit, Markets
from dgd.report.charts.demand_curves import sold_most

MOST = 12
"""Products that are drawn; tables have them all."""


def elasticity_table(fit: ChoiceFit, markets: Markets | None = None) -> pl.DataFrame:
    """One row per product and price: the mean elasticity over the markets that offer both."""
    rows: pl.DataFrame = fit.elasticities(markets, "polars")
    product = (markets or fit.markets).columns.product
    named = rows.rename({product: "product"}, strict=False)
    return named.group_by("product", "price of", maintain_order=True).agg(
        pl.col("elasticity").mean(), pl.len().cast(pl.Int64).alias("markets")
    )


def elasticity_chart(fit: ChoiceFit, markets: Markets | None = None) -> alt.LayerChart:
    """A square for every product and price: by how many per cent sales move when that price rises
    by one per cent. Of many products the best sold are drawn."""
    table = elasticity_table(fit, markets).with_columns(
        pl.col("product", "price of").cast(pl.String)
    )
    shown = [str(product) for product in sold_most(fit, markets or fit.markets, MOST)]
    table = table.filter(pl.col("product").is_in(shown) & pl.col("price of").is_in(shown))
    base = alt.Chart(table).encode(
        x=alt.X("price of:N", title="when this price rises by 1 %", sort=shown),
        y=alt.Y("product:N", title="sales of this product move by, in %", sort=shown),
    )
    scale = alt.Scale(scheme="blueorange", domainMid=0, reverse=True)
    squares = base.mark_rect().encode(
        color=alt.Color("elasticity:Q", scale=scale, legend=None),
        tooltip=["product:N", "price of:N", alt.Tooltip("elasticity:Q", format="+.2f")],
    )
    strong = abs(table["elasticity"]).max() or 1.0
    pale = alt.expr.abs(alt.datum["elasticity"]) < 0.6 * float(strong)  # type: ignore[arg-type]
    numbers = base.mark_text(fontSize=11).encode(
        text=alt.Text("elasticity:Q", format="+.2f"),
        color=alt.condition(pale, alt.value("#1c2733"), alt.value("white")),
    )
    return alt.LayerChart(
        layer=[squares, numbers],
        width=alt.Step(52),
        height=alt.Step(30),
        title="How sales answer to prices, on the mean over markets",
    )
