"""Every series day by day, with the band that chance alone would give it."""

import altair as alt
import polars as pl

from dgd.panel.exploration.exploring import Exploration
from dgd.report.charts.colors import CHANCE, OBSERVED
from dgd.report.charts.days_ahead import date_axis


def exploration_table(exploration: Exploration) -> pl.DataFrame:
    """One row per series and date: observed, expected by weekday, and chance's band."""
    table: pl.DataFrame = exploration.daily("polars")
    return table


def exploration_chart(exploration: Exploration) -> alt.FacetChart:
    """Arrivals and every behaviour's rate as a line over the band of chance, one row a series.

    Days outside the band are more than chance gives; where the line wanders through the band and
    back over many days, yesterday tells about today.
    """
    table = exploration_table(exploration)
    base = alt.Chart().encode(x=date_axis(table["date"]))
    band = base.mark_area(color=CHANCE, opacity=0.5, interpolate="step").encode(
        y=alt.Y("low:Q", title=None), y2="high:Q"
    )
    mean = base.mark_line(color=CHANCE, strokeWidth=1, interpolate="step").encode(y="expected:Q")
    line = base.mark_line(color=OBSERVED, strokeWidth=0.8).encode(y="observed:Q")
    points = base.mark_point(color=OBSERVED, size=12, filled=True).encode(
        y="observed:Q",
        tooltip=["date:T", "observed:Q", "expected:Q", "low:Q", "high:Q"],
    )
    names = table["series"].unique(maintain_order=True).to_list()
    return (
        alt.layer(band, mean, line, points, data=table)
        .properties(width=620, height=110)
        .facet(row=alt.Row("series:N", title=None, sort=names))
        .resolve_scale(y="independent")
        .properties(title="Arrivals and rates, and the band that chance alone would give")
    )
