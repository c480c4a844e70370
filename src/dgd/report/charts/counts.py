"""Daily counts, observed and forecast."""

import altair as alt
import numpy as np
import polars as pl

from dgd.fit import Fit
from dgd.forecasting.forecast import average
from dgd.model.patterns import behavior_bits


def counts_table(fit: Fit, horizon: int = 1) -> pl.DataFrame:
    """One row per date and quantity: what was observed and what was forecast `horizon` days before.

    The quantities are arrivals and every behaviour, summed over units and cohorts.
    """
    panel = fit.panel
    first = max(fit.split.first - 1, 0)
    origins = np.arange(first, panel.days - horizon)
    arrivals, patterns = fit.predict(origins, horizon)
    expected, q = average(arrivals[:, -1], patterns[:, -1])
    shown = expected[..., None] * (q @ behavior_bits(len(panel.behaviors)))
    endpoints = origins + horizon
    forecasts = np.column_stack([expected.sum((1, 2)), shown.sum((1, 2))])
    observed = np.column_stack([panel.arrivals.sum((1, 2)), panel.behavior_counts.sum((1, 2))])
    names = ["arrivals", *panel.behaviors]
    parts = [
        pl.DataFrame(
            [
                panel.period.series("date", panel.dates[endpoints]),
                pl.Series("quantity", [name] * len(endpoints)),
                pl.Series("observed", observed[endpoints, place].astype(np.float64)),
                pl.Series("forecast", forecasts[:, place]),
                pl.Series("range", [_range(fit, int(day)) for day in endpoints]),
            ]
        )
        for place, name in enumerate(names)
    ]
    return pl.concat(parts)


def _range(fit: Fit, day: int) -> str:
    if day < fit.split.train_stop:
        return "training"
    return "validation" if day < fit.split.validation_stop else "test"


def counts_chart(fit: Fit, horizon: int = 1) -> alt.FacetChart:
    """Observed counts as points, forecasts as lines, one row a quantity."""
    table = counts_table(fit, horizon)
    days = "one day" if horizon == 1 else f"{horizon} days"
    base = alt.Chart(table).encode(x=alt.X("date:T", title=None))
    observed = base.mark_point(size=14, filled=True, color="#555555").encode(
        y=alt.Y("observed:Q", title=None)
    )
    forecast = base.mark_line(strokeWidth=1.5).encode(
        y="forecast:Q",
        color=alt.Color(
            "range:N", title=None, scale=alt.Scale(domain=["training", "validation", "test"])
        ),
    )
    return (
        alt.layer(observed, forecast)
        .properties(width=620, height=110)
        .facet(row=alt.Row("quantity:N", title=None, sort=["arrivals", *fit.panel.behaviors]))
        .resolve_scale(y="independent")
        .properties(
            title=f"Counts per {fit.panel.period.name}: observed (points), forecast {days} ahead"
        )
    )
