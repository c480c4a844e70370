"""What would be if: a slider that answers from grids computed beforehand."""

import altair as alt
import numpy as np
import polars as pl

from dgd.report.charts.colors import CHANGED, EXPECTED
from dgd.report.charts.days_ahead import date_axis
from dgd.report.page.choices import ALL
from dgd.report.page.figures import figure
from dgd.report.page.findings import TURNED, Findings
from dgd.report.page.forecast_section import labels_selector
from dgd.report.page.parts import Section, paragraphs, selector, slider
from dgd.scenarios.multiples import EVERYBODY
from dgd.scenarios.ranges import learned_effort
from dgd.tables.labels import Label

ROWS = "whatif"
MOST_ROWS = 28_000
"""Days of all multiples together; more would make a page of megabytes."""
KNOBS = {"effort": "effort", "size": "how many people there are"}
"""What can be multiplied, in words."""
PARTS = {"as planned": EXPECTED, "changed": CHANGED}


def what_if_section(found: Findings) -> Section:
    """The knob, plan and change side by side, and what to keep in mind."""
    panel = found.fit.panel
    knobs = [(knob, KNOBS[knob]) for knob in found.grids]
    words = "The chosen series as planned and with the knob turned, day by day, all units together."
    body = (
        paragraphs(
            [
                "Turn the knob to see what the days ahead would bring if there were more or less "
                "of it; 1 is the plan. What people carry from day to day is followed: who is "
                "met more often also tires."
            ]
        )
        + '<div class="controls" role="group" aria-label="What is changed">'
        + selector("knob", "Multiply", knobs)
        + (
            labels_selector("group", "For", "all cohorts", _groups(found))
            if len(panel.cohorts) > 1
            else ""
        )
        + selector("shown", "What", [(name, name) for name in panel.series])
        + slider("multiple", "By", min(TURNED), max(TURNED), 0.05, 1.0)
        + "</div>"
        + TABLE
        + '<p class="warning" id="whatif-beyond" hidden>The training days have not seen as much: '
        "the answer goes beyond what was learned.</p>"
        + figure("whatif-chart", _chart(found), words, rows=ROWS)
        + paragraphs(_assumed(found), "note")
    )
    return Section("what-if", "What would be if", body)


TABLE = (
    '<div class="scroll" tabindex="0" role="region" aria-label="Plan and change">'
    '<table aria-live="polite"><thead><tr><th scope="col">over all days</th>'
    '<th scope="col" class="number">as planned</th><th scope="col" class="number">changed</th>'
    '<th scope="col" class="number">difference</th><th scope="col" class="number">%</th></tr>'
    '</thead><tbody><tr><th scope="row">expected</th>'
    + "".join(
        f'<td class="number" data-says="whatif-{name}"></td>'
        for name in ("planned", "changed", "more", "percent")
    )
    + "</tr></tbody></table></div>"
)


def what_if_rows(found: Findings) -> dict[str, pl.DataFrame]:
    """Every grid, by the knob and the cohorts it is turned for."""
    panel = found.fit.panel
    columns = panel.columns
    parts = []
    for knob, grid in found.grids.items():
        together = EVERYBODY if len(panel.cohorts) > 1 else str(panel.cohorts[0])
        shown = [together, *map(str, _groups(found))]
        parts.append(
            grid.filter(pl.col(columns.cohort).is_in(shown)).select(
                pl.lit(knob).alias("knob"),
                pl.col(columns.cohort).replace({together: ALL}).alias("group"),
                pl.col("series").alias("shown"),
                "multiple",
                pl.col(columns.date).alias("date"),
                "expected",
                "seen",
            )
        )
    return {ROWS: pl.concat(parts)}


def _groups(found: Findings) -> list[Label]:
    """The cohorts that the knob can be turned for: of too many for a page, the busiest."""
    panel = found.fit.panel
    days = len(found.forecast.dates)
    of_cohort = days * len(panel.series) * len(TURNED) * len(found.grids)
    most = max(1, MOST_ROWS // of_cohort - 1)
    busiest = np.argsort(-panel.arrivals.sum((0, 1)), kind="stable")[:most]
    return [panel.cohorts[at] for at in sorted(busiest)]


def _chart(found: Findings) -> alt.Chart:
    scale = alt.Scale(domain=list(PARTS), range=list(PARTS.values()))
    legend = alt.Legend(orient="top", title=None)
    tips = ["date:T", "part:N", alt.Tooltip("value:Q", format=",.1f")]
    return (
        alt.Chart(alt.NamedData("rows"))
        .mark_line(point=alt.OverlayMarkDef(size=16))
        .encode(
            x=date_axis(found.choices.days["date"]),
            y=alt.Y("value:Q", title=None),
            color=alt.Color("part:N", scale=scale, legend=legend),
            tooltip=tips,
        )
        .properties(width="container", height=240)
    )


def _assumed(found: Findings) -> list[str]:
    """What the answers rest on."""
    panel = found.fit.panel
    said = [
        "These are expected values that follow from what was learned, not experiments: where "
        "effort was raised because more was expected, the answer is too high."
    ]
    if not panel.has_effort:
        said.append(
            "The fit was made without a table of effort, so only the number of people can be "
            "changed; make the panel with effort to ask about it."
        )
        return said
    unknown = [
        str(label)
        for label, learned in zip(panel.cohorts, learned_effort(found.fit), strict=True)
        if not learned
    ]
    if unknown:
        said.append(
            f"Effort for {', '.join(unknown)} never varied enough in training: that arrivals rise "
            "in proportion to it is an assumption."
        )
    return said
