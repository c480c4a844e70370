"""Daily counts, observed and forecast."""

import altair as alt
import numpy as np
import polars as pl

from dgd.fit import Fit
from dgd.forecasting.totals import daily_totals
from dgd.report.charts.colors import OBSERVED, TEST, TRAINING, VALIDATION
from dgd.report.charts.days_ahead import date_axis

RANGES = {"training": TRAINING, "validation": VALIDATION, "test": TEST}


def counts_table(fit: Fit, horizon: int = 1) -> pl.DataFrame:
    """One row per date and quantity: what was observed and what was forecast `horizon` days before.

    The quantities are arrivals and every behaviour, summed over units and cohorts.
    """
    origins = np.arange(fit.first_origin, fit.panel.days - horizon)
    totals = daily_totals(fit.panel, origins, horizon, fit.predict(origins, horizon))
    ranges = [_range(fit, int(day)) for day in origins + horizon]
    series = 1 + len(fit.panel.behaviors)
    return totals.select(
        "date",
        pl.col("series").alias("quantity"),
        pl.col("observed").cast(pl.Float64),
        "forecast",
        pl.Series("range", ranges * series),
    )


def _range(fit: Fit, day: int) -> str:
    if day < fit.split.train_stop:
        return "training"
    return "validation" if day < fit.split.validation_stop else "test"


def counts_chart(fit: Fit, horizon: int = 1) -> alt.FacetChart:
    """Observed counts as points, forecasts as lines, one row a quantity."""
    table = counts_table(fit, horizon)
    days = "one day" if horizon == 1 else f"{horizon} days"
    base = alt.Chart(table).encode(x=date_axis(table["date"]))
    observed = base.mark_point(size=14, filled=True, color=OBSERVED).encode(
        y=alt.Y("observed:Q", title=None)
    )
    forecast = base.mark_line(strokeWidth=1.5).encode(
        y="forecast:Q",
        color=alt.Color(
            "range:N",
            title=None,
            scale=alt.Scale(domain=list(RANGES), range=list(RANGES.values())),
        ),
    )
    return (
        alt.layer(observed, forecast)
        .properties(width=620, height=110)
        .facet(row=alt.Row("quantity:N", title=None, sort=list(fit.panel.series)))
        .resolve_scale(y="independent")
        .properties(
            title=f"Counts per {fit.panel.period.name}: observed (points), forecast {days} ahead"
        )
    )
