"""The daily-forecast figure: behavioural counts of both Retail windows, all models."""

import altair as alt
import polars as pl

from dgd.errors import InputError
from dgd.paper.models import Scored


def daily_table(scored: Scored) -> pl.DataFrame:
    """One row per window, date, mark and model: what was observed, and what was forecast a day
    ahead, on the mean over seeds."""
    if not scored.windows.retail:
        raise InputError(
            "daily forecasts are drawn from the Retail windows, and none is there; get them with "
            "`dgd data fetch online-retail`, or name the folder that holds a copy with --data or "
            "DGD_DATA."
        )
    parts = [
        scored.on(window)
        .daily("polars")
        .filter(pl.col("series") != "arrivals")
        .with_columns(pl.lit(window).alias("window"))
        for window in scored.windows.retail
    ]
    return pl.concat(parts)


def daily_chart(scored: Scored) -> alt.VConcatChart:
    """A row of panels per window, a column per mark; observed as points."""
    table = daily_table(scored)
    rows = []
    for window, dataset in scored.windows.retail.items():
        base = alt.Chart(table.filter(pl.col("window") == window)).encode(
            x=alt.X("date:T", title=None, axis=alt.Axis(format="%-d %b %Y", tickCount=4))
        )
        observed = base.mark_point(filled=True, color="black", size=30).encode(
            y=alt.Y("observed:Q", title="invoices per day")
        )
        forecast = base.mark_line(strokeWidth=1.5).encode(
            y="forecast:Q", color=alt.Color("model:N", title=None)
        )
        rows.append(
            alt.layer(forecast, observed)
            .properties(width=260, height=200)
            .facet(column=alt.Column("series:N", title=None, sort=list(dataset.panel.behaviors)))
            .properties(title=f"{window}: observed (points) and forecast one day ahead")
        )
    return alt.vconcat(*rows)
