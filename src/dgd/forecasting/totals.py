"""The day's totals over units and cohorts, recorded and forecast, as one table."""

import numpy as np
import polars as pl
from jaxtyping import Int

from dgd.forecasting.predictive import Predictive
from dgd.panel.grids import ARRIVALS
from dgd.panel.panel import Panel


def daily_totals(
    panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int, predicted: Predictive
) -> pl.DataFrame:
    """One row per series and endpoint, the day `horizon` days after an origin.

    A series is "arrivals" or a behaviour; its total is forecast by the mean over seeds.
    """
    days = origins + horizon
    last = predicted.at(-1)
    shown = last.behavior_counts.sum((3, 4))[:, 0].mean(0)
    forecast = {ARRIVALS: last.arrivals.sum((3, 4))[:, 0].mean(0)}
    recorded = {ARRIVALS: panel.arrivals[days].sum((1, 2))}
    for h, behavior in enumerate(panel.behaviors):
        forecast[behavior] = shown[:, h]
        recorded[behavior] = panel.behavior_counts[days, ..., h].sum((1, 2))
    return pl.concat(
        pl.DataFrame(
            [
                panel.period.series("origin", panel.dates[origins]),
                panel.period.series("date", panel.dates[days]),
                pl.Series("series", [series] * len(days)),
                pl.Series("observed", recorded[series]),
                pl.Series("forecast", forecast[series]),
            ]
        )
        for series in forecast
    )
