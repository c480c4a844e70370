"""What charts of days ahead share: the counted days before them, and an axis that has the year."""

from typing import Any

import altair as alt
import numpy as np
import polars as pl

from dgd.forecasting.asked import Asked, counted_series
from dgd.panel.panel import Panel

RECENT = {"hour": 168, "day": 28, "week": 26}
"""How many counted periods stand before those ahead."""
DATE, HOUR = "%-d %b %Y", "%-d %b %Y %H:00"
A_DAY, AN_HOUR = 86_400_000, 3_600_000
"""In milliseconds; ticks are not closer, or the same label would stand twice."""
WIDTH = 560


def observed_table(panel: Panel, origin: np.datetime64) -> pl.DataFrame:
    """One row per date and series: what was counted on the last days up to the origin."""
    stop = panel.index(origin, "origin") + 1
    days = slice(max(stop - RECENT[panel.period.name], 0), stop)
    asked = Asked.of_days(panel)
    counts = asked.answered(counted_series(panel.patterns[days]))[:, 0, 0]
    day, series = (i.ravel() for i in np.indices(counts.shape))
    return pl.DataFrame(
        [
            pl.Series("series", [asked.series[i] for i in series]),
            panel.period.series("date", panel.dates[days][day]),
            pl.Series("part", ["observed"] * counts.size, pl.String),
            pl.Series("value", counts.ravel()),
        ]
    )


def date_axis(dates: pl.Series) -> alt.X:
    """Dates with their year, and the hour where hours were counted; as many as can be read."""
    shown, apart = (DATE, A_DAY) if dates.dtype == pl.Date else (HOUR, AN_HOUR)
    axis = alt.Axis(format=shown, tickCount=6, tickMinStep=apart, labelOverlap=True)
    return alt.X("date:T", title=None, axis=axis)


def band(base: alt.Chart, days: int, **look: Any) -> alt.Chart:
    """From `low` to `high`: an area, or where there is one day alone, which has none, a bar."""
    marked = base.mark_area(**look) if days > 1 else base.mark_rule(strokeWidth=8, **look)
    return marked.encode(y=alt.Y("low:Q", title=None, scale=alt.Scale(zero=False)), y2="high:Q")


def line(base: alt.Chart) -> alt.Chart:
    """`value` from day to day."""
    return base.mark_line(point=alt.OverlayMarkDef(size=14)).encode(
        y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False)),
        tooltip=["date:T", "part:N", alt.Tooltip("value:Q", format=",.1f")],
    )


def part_color(parts: dict[str, str]) -> alt.Color:
    """The parts of a chart, each by its name and in its color."""
    scale = alt.Scale(domain=list(parts), range=list(parts.values()))
    legend = alt.Legend(symbolOpacity=1.0, symbolType="square", orient="top")
    return alt.Color("part:N", title=None, scale=scale, legend=legend)
