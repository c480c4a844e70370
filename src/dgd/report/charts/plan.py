"""Effort as it is planned, day by day and cohort by cohort, beside the even spread."""

import altair as alt
import polars as pl

from dgd.report.charts.colors import REFERENCE, label_scale
from dgd.report.charts.days_ahead import WIDTH, date_axis
from dgd.scenarios.plans import Plan


def plan_table(plan: Plan) -> pl.DataFrame:
    """One row per date, unit and cohort: from when `until` when, how much effort, and where its
    bar stands on those of the cohorts before it; `even` is what the unit gets on that day when
    the budget is spread evenly."""
    panel = plan.outlook.panel
    step, columns = panel.period.step, panel.columns
    rows: pl.DataFrame = plan.to_frame("polars")
    named = {columns.date: "date", columns.unit: "unit", columns.cohort: "cohort"}
    of_day = ["date", "unit"]
    top = pl.col("effort").cum_sum().over(of_day)
    return (
        rows.rename(named, strict=False)
        .select(
            "date",
            pl.col("unit", "cohort").cast(pl.String),
            "effort",
            (top - pl.col("effort")).alias("low"),
            top.alias("high"),
            pl.col("even").sum().over(of_day),
        )
        .with_columns(until=pl.col("date") + step.item())
    )


def plan_chart(plan: Plan) -> alt.FacetChart:
    """Bars of effort per date, a color for each cohort and a row for each unit; the dark line is
    the same budget spread evenly."""
    table, panel = plan_table(plan), plan.outlook.panel
    base = alt.Chart().encode(x=date_axis(table["date"]), x2="until:T")
    cohorts = [str(label) for label in panel.cohorts]
    bars = base.mark_rect(stroke="white", strokeWidth=0.6).encode(
        y=alt.Y("low:Q", title="effort"),
        y2="high:Q",
        color=alt.Color("cohort:N", scale=label_scale(cohorts), title=panel.columns.cohort),
        tooltip=["date:T", "unit:N", "cohort:N", "effort:Q"],
    )
    even = base.mark_rule(color=REFERENCE, strokeWidth=1.5).encode(y="even:Q")
    header = alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold")
    title = alt.TitleParams(
        f"Planned effort per {panel.period.name}",
        subtitle="dark line: the same budget spread as evenly as bounds and limits let it",
        anchor="start",
    )
    return (
        alt.layer(bars, even, data=table)
        .properties(width=WIDTH, height=140)
        .facet(
            row=alt.Row(
                "unit:N", title=None, sort=[str(label) for label in panel.units], header=header
            )
        )
        .properties(title=title)
    )
