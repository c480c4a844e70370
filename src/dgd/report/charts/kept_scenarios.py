"""Several scenarios side by side: what each brings, and by how much it differs from the plan."""

from collections.abc import Mapping

import altair as alt
import polars as pl

from dgd.errors import InputError
from dgd.report.charts.colors import REFERENCE, UNDECIDED, label_scale
from dgd.scenarios.comparison import ScenarioComparison

LEVEL = 80
"""The range that is drawn where every scenario has it."""


def kept_scenarios_table(kept: Mapping[str, ScenarioComparison]) -> pl.DataFrame:
    """One row per scenario and series over all days ahead: as planned, changed, the difference,
    what it is in per cent, and the ends of the difference's range where it was drawn."""
    if not kept:
        raise InputError("no scenario is kept; keep at least one to compare it.")
    parts = []
    for name, comparison in kept.items():
        totals: pl.DataFrame = comparison.totals(kind="polars")
        low, high = (f"difference_{end}_{LEVEL}" for end in ("low", "high"))
        known = low in totals.columns
        nothing = pl.lit(None, pl.Float64)
        ahead = 100 * pl.col("difference") / pl.col("baseline")
        parts.append(
            totals.select(
                pl.lit(name).alias("scenario"),
                "series",
                pl.lit(str(comparison.outlook.dates[0])).alias("from"),
                pl.lit(str(comparison.outlook.dates[-1])).alias("to"),
                pl.col("baseline").alias("planned"),
                "changed",
                "difference",
                pl.when(pl.col("baseline") > 0).then(ahead).alias("percent"),
                (pl.col(low) if known else nothing).alias("low"),
                (pl.col(high) if known else nothing).alias("high"),
            )
        )
    return pl.concat(parts)


def kept_scenarios_chart(kept: Mapping[str, ScenarioComparison]) -> alt.FacetChart:
    """By how many per cent every scenario moves every series, a bar each and its range."""
    table = kept_scenarios_table(kept)
    shares = table.with_columns(
        (100 * pl.col(end) / pl.col("planned")).alias(f"{end} percent") for end in ("low", "high")
    )
    names = list(kept)
    y = alt.Y("scenario:N", title=None, sort=names, axis=alt.Axis(labelLimit=220))
    color = alt.Color("scenario:N", scale=label_scale(names), legend=None)
    tips = ["scenario:N", "series:N", *(_rounded(one) for one in ("planned", "changed", "percent"))]
    bars = (
        alt.Chart()
        .mark_bar(height={"band": 0.7})
        .encode(x=alt.X("percent:Q", title="change in per cent"), y=y, color=color, tooltip=tips)
    )
    ranges = (
        alt.Chart()
        .mark_rule(color=REFERENCE, strokeWidth=1.5)
        .encode(x=alt.X("low percent:Q", title="change in per cent"), x2="high percent:Q", y=y)
    )
    zero = alt.Chart().mark_rule(color=UNDECIDED, aria=False).encode(x=alt.datum(0.0))
    header = alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold")
    series = shares["series"].unique(maintain_order=True).to_list()
    return (
        alt.layer(bars, ranges, zero, data=shares)
        .properties(width=480, height=alt.Step(26))
        .facet(row=alt.Row("series:N", title=None, sort=series, header=header))
        .properties(title="Scenarios beside the plan, over all days ahead")
    )


def _rounded(column: str) -> alt.Tooltip:
    return alt.Tooltip(f"{column}:Q", format=",.1f")
