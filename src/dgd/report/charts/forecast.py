"""The days ahead as they are forecast, after those that were counted."""

import altair as alt
import polars as pl

from dgd.forecasting.forecast import Forecast
from dgd.report.charts.colors import EXPECTED, OBSERVED, range_shade
from dgd.report.charts.days_ahead import (
    WIDTH,
    band,
    date_axis,
    line,
    observed_table,
    part_color,
)


def forecast_table(forecast: Forecast) -> pl.DataFrame:
    """One row per series, date and part: what was observed, what is expected, and of every
    level's range the ends; all units and cohorts together."""
    panel = forecast.panel
    totals: pl.DataFrame = forecast.totals(kind="polars")
    rows = totals.rename({panel.columns.date: "date"}, strict=False)
    nothing = pl.lit(None, pl.Float64)
    parts = [
        observed_table(panel, forecast.origin).with_columns(low=nothing, high=nothing),
        rows.select(
            "series",
            "date",
            pl.lit("expected").alias("part"),
            pl.col("expected").alias("value"),
            nothing.alias("low"),
            nothing.alias("high"),
        ),
    ]
    for level in _levels(forecast):
        parts.append(
            rows.select(
                "series",
                "date",
                pl.lit(range_name(level)).alias("part"),
                nothing.alias("value"),
                pl.col(f"low_{level:g}").alias("low"),
                pl.col(f"high_{level:g}").alias("high"),
            ).drop_nulls("low")
        )
    return pl.concat(parts)


def forecast_chart(forecast: Forecast) -> alt.FacetChart:
    """Observed counts, then expected ones over the bands of their ranges, one row a series."""
    table = forecast_table(forecast)
    levels = _levels(forecast)
    shown = {"observed": OBSERVED, "expected": EXPECTED}
    shown |= {range_name(level): range_shade(at, len(levels)) for at, level in enumerate(levels)}
    known = set(table["part"])
    color = part_color({part: shade for part, shade in shown.items() if part in known})
    base = alt.Chart().encode(x=date_axis(table["date"]), color=color)
    # the widest band first, so that the narrower ones lie on it
    bands = [
        band(
            base.transform_filter(alt.FieldEqualPredicate(field="part", equal=range_name(level))),
            len(forecast.dates),
        )
        for level in reversed(levels)
    ]
    names = table["series"].unique(maintain_order=True).to_list()
    header = alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold")
    step = forecast.panel.period.name
    return (
        alt.layer(*bands, line(base), data=table)
        .properties(width=WIDTH, height=130)
        .facet(row=alt.Row("series:N", title=None, sort=names, header=header))
        .resolve_scale(y="independent")
        .properties(title=f"Counts per {step}: observed up to {forecast.origin}, then expected")
    )


def range_name(level: float) -> str:
    """What the range of a level is called."""
    return f"{level:g} % range"


def _levels(forecast: Forecast) -> tuple[float, ...]:
    return () if forecast.ranges is None else forecast.ranges.levels
