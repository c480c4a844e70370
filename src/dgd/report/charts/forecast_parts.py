"""One series of the days ahead, unit by unit or cohort by cohort."""

import altair as alt
import polars as pl

from dgd.errors import InputError
from dgd.forecasting.asked import Asked, counted_series
from dgd.forecasting.forecast import Forecast
from dgd.report.charts.colors import EXPECTED, OBSERVED, range_shade
from dgd.report.charts.days_ahead import RECENT, WIDTH, date_axis

MOST_LABELS = 12
"""Rows of the chart; the table has every label."""


def forecast_parts_table(forecast: Forecast, by: str, series: str = "arrivals") -> pl.DataFrame:
    """One row per label and date: observed, or expected with the ends of the narrowest range.

    Args:
        by: "unit" or "cohort", what is kept apart.
        series: "arrivals" or a behaviour.
    """
    panel = forecast.panel
    if by not in ("unit", "cohort"):
        raise InputError(f'by is "{by}"; choose unit or cohort.')
    if series not in panel.series:
        raise InputError(
            f'series "{series}" is not counted; choose among {", ".join(panel.series)}.'
        )
    kept = ["date", by, "behavior"]
    column = getattr(panel.columns, by)
    ahead: pl.DataFrame = forecast.totals(kept, kind="polars")
    stop = panel.index(forecast.origin, "origin") + 1
    recent = slice(max(stop - RECENT[panel.period.name], 0), stop)
    asked = Asked.of(panel, kept)
    counted = asked.answered(counted_series(panel.patterns[recent])).ravel()
    seen = asked.labels(panel, panel.dates[recent]).with_columns(observed=pl.Series(counted))
    named = {panel.columns.date: "date", column: "label"}
    low, high = _narrowest(forecast)
    both = [
        table.rename(named, strict=False)
        .filter(pl.col("series") == series)
        .rename({name: end for name, end in ((low, "low"), (high, "high")) if name}, strict=False)
        .select(pl.col("label").cast(pl.String), "date", pl.col(*kept_columns(table, low)))
        for table in (seen, ahead)
    ]
    return pl.concat(both, how="diagonal")


def kept_columns(table: pl.DataFrame, low: str | None) -> list[str]:
    """What of a table of either kind is shown."""
    if "observed" in table.columns:
        return ["observed"]
    return ["expected", *(["low", "high"] if low else [])]


def forecast_parts_chart(forecast: Forecast, by: str, series: str = "arrivals") -> alt.FacetChart:
    """Observed and expected days of one series, one row for each unit or cohort, those with the
    most expected first."""
    table = forecast_parts_table(forecast, by, series)
    order = (
        table.group_by("label", maintain_order=True)
        .agg(pl.col("expected").sum())
        .sort("expected", descending=True, maintain_order=True)["label"]
        .to_list()
    )
    shown = table.filter(pl.col("label").is_in(order[:MOST_LABELS]))
    base = alt.Chart().encode(x=date_axis(table["date"]))
    scale = alt.Scale(zero=False)
    layers = [
        base.mark_line(color=color, point=alt.OverlayMarkDef(size=12, color=color)).encode(
            y=alt.Y(f"{part}:Q", title=None, scale=scale),
            tooltip=["label:N", "date:T", alt.Tooltip(f"{part}:Q", format=",.1f")],
        )
        for part, color in (("observed", OBSERVED), ("expected", EXPECTED))
    ]
    if "low" in table.columns:
        ends = alt.Y("low:Q", title=None, scale=scale)
        layers.insert(
            0, base.mark_area(color=range_shade(0, 1), opacity=0.6).encode(y=ends, y2="high:Q")
        )
    header = alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold")
    return (
        alt.layer(*layers, data=shown)
        .properties(width=WIDTH, height=100)
        .facet(row=alt.Row("label:N", title=None, sort=order, header=header))
        .resolve_scale(y="independent")
        .properties(title=_title(forecast, by, series, len(order)))
    )


def _title(forecast: Forecast, by: str, series: str, labels: int) -> str:
    fewer = f", the {MOST_LABELS} largest of {labels}" if labels > MOST_LABELS else ""
    return f"{series} by {getattr(forecast.panel.columns, by)}{fewer}"


def _narrowest(forecast: Forecast) -> tuple[str | None, str | None]:
    if forecast.ranges is None or not forecast.ranges.levels:
        return None, None
    level = forecast.ranges.levels[0]
    return f"low_{level:g}", f"high_{level:g}"
