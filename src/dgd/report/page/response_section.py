"""How people respond: which behaviours come together, and what weekdays, features and effort do."""

import polars as pl

from dgd.report.charts.co_occurrence import co_occurrence_chart, co_occurrence_table
from dgd.report.charts.response_curve import response_curve_chart, response_curve_table
from dgd.report.page.figures import figure, folded
from dgd.report.page.findings import Findings
from dgd.report.page.parts import Section, bullets

MOST_EFFECTS = 8


def response_section(found: Findings) -> Section:
    fit = found.fit
    words = "How often behaviours are shown, alone and two at a time, as counted and as forecast."
    body = (
        figure("together-chart", co_occurrence_chart(fit), words, co_occurrence_table(fit))
        + "<h3>What moves them</h3>"
        + bullets(_notable(found.effects))
        + (folded("All effects", found.effects) if found.effects.height else "")
        + _curve(found)
    )
    return Section("response", "How they respond", body)


def _notable(effects: pl.DataFrame) -> list[str]:
    """The largest effects whose intervals leave out nothing at all."""
    apart = (pl.col("low") > 0) | (pl.col("high") < 0)
    sure = effects.filter(apart).sort(pl.col("percent").abs(), descending=True)
    said: list[str] = sure["words"].head(MOST_EFFECTS).to_list()
    return said or ["No weekday, feature or effort has an effect that the counts tell from none."]


def _curve(found: Findings) -> str:
    if not found.fit.panel.has_effort:
        return ""
    words = "What multiples of the planned effort would bring over the days ahead."
    horizon, origin = len(found.forecast.dates), found.forecast.origin
    chart = response_curve_chart(found.fit, horizon=horizon, origin=origin)
    table = response_curve_table(found.fit, horizon=horizon, origin=origin)
    return f"<h3>What effort brings</h3>{figure('curve-chart', chart, words, table)}"
