"""What a change does to the days ahead, and why."""

from typing import Any

import altair as alt
import polars as pl

from dgd.report.charts.colors import BETTER, CHANGED, EXPECTED, OBSERVED, WORSE
from dgd.report.charts.days_ahead import (
    WIDTH,
    band,
    date_axis,
    line,
    observed_table,
    part_color,
)
from dgd.scenarios.causes import CAUSES
from dgd.scenarios.comparison import ScenarioComparison

PARTS = {"observed": OBSERVED, "as planned": EXPECTED, "changed": CHANGED}
COLUMNS = {"as planned": "baseline", "changed": "changed"}
LEVEL = 80
"""The range that is drawn, where it was asked for; else the narrowest one."""
SIGNS = {"more": BETTER, "fewer": WORSE}


def scenario_table(comparison: ScenarioComparison) -> pl.DataFrame:
    """One row per series, date and part: observed, as planned and changed, with the ends of one
    range where there are any; all units and cohorts together."""
    panel, level = comparison.outlook.panel, _level(comparison)
    daily: pl.DataFrame = comparison.to_frame("polars")
    rows = daily.rename({panel.columns.date: "date"}, strict=False)
    nothing = pl.lit(None, pl.Float64)
    observed = observed_table(panel, comparison.outlook.origin)
    parts = [observed.with_columns(low=nothing, high=nothing)]
    for part, column in COLUMNS.items():
        ends = {
            end: nothing if level is None else pl.col(f"{column}_{end}_{level:g}")
            for end in ("low", "high")
        }
        named = pl.lit(part).alias("part")
        parts.append(rows.select("series", "date", named, pl.col(column).alias("value"), **ends))
    return pl.concat(parts)


def scenario_causes_table(comparison: ScenarioComparison) -> pl.DataFrame:
    """One row per series and cause: what it adds to the difference over the whole horizon."""
    split: pl.DataFrame = comparison.split("total", "polars")
    return split.unpivot(list(CAUSES), index="series", variable_name="cause").with_columns(
        sign=pl.when(pl.col("value") < 0).then(pl.lit("fewer")).otherwise(pl.lit("more"))
    )


def scenario_chart(comparison: ScenarioComparison) -> alt.VConcatChart:
    """For every series the days as planned and as changed, and beside them the four causes."""
    daily, causes = scenario_table(comparison), scenario_causes_table(comparison)
    totals: pl.DataFrame = comparison.totals(kind="polars")
    level = _level(comparison)
    panels = []
    for row in totals.iter_rows(named=True):
        own = pl.col("series") == row["series"]
        title = alt.TitleParams(row["series"], subtitle=_told(row, level), anchor="start")
        days = _days(daily.filter(own), comparison).properties(title=title)
        panels.append(alt.hconcat(days, _bars(causes.filter(own)), spacing=30))
    dates = comparison.outlook.dates
    bands = "" if level is None else f"; bands: {level:g} % of what may come"
    return alt.vconcat(*panels, spacing=25).properties(
        title=f"What the change does, {dates[0]} to {dates[-1]}{bands}"
    )


def _days(table: pl.DataFrame, comparison: ScenarioComparison) -> alt.LayerChart:
    outlook = comparison.outlook
    base = alt.Chart(table).encode(x=date_axis(table["date"]), color=part_color(PARTS))
    return alt.LayerChart(
        layer=[band(base, outlook.horizon, opacity=0.2), line(base)], width=WIDTH, height=130
    )


def _bars(causes: pl.DataFrame) -> alt.Chart:
    """What each cause adds."""
    # a channel of its own, so that the legend of the days stays theirs
    fill = alt.Fill(
        "sign:N",
        legend=None,
        scale=alt.Scale(domain=list(SIGNS), range=list(SIGNS.values())),
    )
    cause = alt.Y("cause:N", title=None, sort=list(CAUSES), axis=alt.Axis(labelLimit=260))
    added = alt.X("value:Q", title="added over all days", axis=alt.Axis(tickCount=4))
    return (
        alt.Chart(causes)
        .mark_bar()
        .encode(x=added, y=cause, fill=fill, tooltip=["cause:N", "value:Q"])
        .properties(width=200, height=110, title=alt.TitleParams("why", anchor="start"))
    )


def _told(row: dict[str, Any], level: float | None) -> str:
    """The totals in a line."""
    before, after, more = row["baseline"], row["changed"], row["difference"]
    ahead = f" ({100 * more / before:+.1f} %)" if before > 0 else ""
    said = f"{before:,.1f} as planned, {after:,.1f} changed: {more:+,.1f}{ahead}"
    if level is None:
        return said
    low, high = (row[f"difference_{end}_{level:g}"] for end in ("low", "high"))
    return f"{said}, {level:g} % range {low:+,.1f} to {high:+,.1f}"


def _level(comparison: ScenarioComparison) -> float | None:
    if comparison.drawn is None or not comparison.levels:
        return None
    return LEVEL if LEVEL in comparison.levels else comparison.levels[0]
