"""Response types by what they do: how many they are, how often they come, what they show."""

import altair as alt
import numpy as np
import polars as pl

from dgd.fit import Fit
from dgd.learning.response_types import CONTACTS, SHARE, rate_of
from dgd.report.charts.colors import label_scale

PEOPLE, ARRIVALS, RATE = "of the people", "of the arrivals", "rate"
"""What a row of the table is about: shares of two wholes, or a behaviour's rate."""
PIXELS_PER_BEHAVIOR, LEAST_HEIGHT = 20, 64
WIDTH, LABEL_LIMIT = 270, 220
OTHER_SEEDS = 0.45


def types_table(fit: Fit) -> pl.DataFrame:
    """One row per seed, cohort, type and what is told of it: a share of the people, of the
    arrivals, or the rate of a behaviour.

    `start` and `end` are where a share lies beside those of the other types; `best` marks the
    seed that validates best.
    """
    types = fit.response_types("polars")
    wholes = {SHARE: PEOPLE, CONTACTS: ARRIVALS}
    keys = ["seed", "cohort", "type"]
    told = [
        *((column, "share", of) for column, of in wholes.items()),
        *((rate_of(name), RATE, name) for name in fit.panel.behaviors),
    ]
    parts = [
        types.select(
            "seed",
            (pl.col("seed") == fit.best_seed).alias("best"),
            pl.col("cohort").cast(pl.String),
            "type",
            pl.lit(measure).alias("measure"),
            pl.lit(of).alias("of"),
            pl.col(column).alias("value"),
            pl.col(column).cum_sum().over(keys[:2]).alias("end"),
        )
        for column, measure, of in told
    ]
    share = pl.col("measure") == "share"
    return pl.concat(parts).with_columns(
        pl.when(share).then(pl.col("end") - pl.col("value")).alias("start"),
        pl.when(share).then("end").alias("end"),
    )


def types_chart(fit: Fit) -> alt.HConcatChart:
    """A row of two panels for each cohort: shares of its types as bars, rates as dots.

    Solid marks are of the seed that validates best, faint ones of the others.
    """
    table = types_table(fit)
    color = _type_color(table["type"].n_unique())
    shares = _shares(table.filter(measure="share"), color)
    rates = _rates(table.filter(measure=RATE), color, fit.panel.behaviors)
    named = alt.Header(
        labelAngle=0, labelAlign="left", labelFontWeight="bold", labelLimit=LABEL_LIMIT
    )
    left = _by_cohort(shares, fit, named, "Who they are, and who is seen")
    unnamed = alt.Header(labels=False, labelPadding=0)
    right = _by_cohort(rates, fit, unnamed, "How often an arrival shows each behaviour")
    about = alt.TitleParams(
        "Types of people in every cohort", subtitle=_explained(fit), subtitleColor="#555555"
    )
    return alt.hconcat(left, right, spacing=24).properties(title=about)


def _by_cohort(chart: alt.LayerChart, fit: Fit, header: alt.Header, title: str) -> alt.FacetChart:
    order = [str(cohort) for cohort in fit.panel.cohorts]
    height = max(LEAST_HEIGHT, PIXELS_PER_BEHAVIOR * len(fit.panel.behaviors))
    return (
        chart.properties(width=WIDTH, height=height)
        .facet(row=alt.Row("cohort:N", title=None, sort=order, header=header), spacing=14)
        .properties(title=alt.TitleParams(title, anchor="middle", fontSize=12))
    )


def _explained(fit: Fit) -> str:
    if len(fit.seeds) == 1:
        return "Type 1 is the one whose people come most often."
    return (
        "Type 1 is the one whose people come most often. Solid: the seed that validates best; "
        "thin marks: the other seeds."
    )


def _type_color(types: int) -> alt.Color:
    legend = alt.Legend(orient="top", symbolType="square", symbolOpacity=1.0)
    return alt.Color("type:N", title="type", scale=label_scale(range(1, types + 1)), legend=legend)


def _shares(table: pl.DataFrame, color: alt.Color) -> alt.LayerChart:
    axis = alt.Axis(format="%", tickCount=5)
    y = alt.Y("of:N", title=None, sort=[PEOPLE, ARRIVALS], axis=alt.Axis(labelLimit=LABEL_LIMIT))
    scale = alt.Scale(domain=[0, 1])
    told = [*_tooltip(), alt.Tooltip("value:Q", format=".1%")]
    bars = (
        alt.Chart()
        .transform_filter("datum.best")
        .mark_bar(opacity=0.65)
        .encode(
            x=alt.X("start:Q", title=None, axis=axis, scale=scale),
            x2="end:Q",
            y=y,
            color=color,
            tooltip=told,
        )
    )
    numbers = (
        alt.Chart()
        .transform_filter("datum.best && datum.value > 0.12")
        .transform_calculate(middle="(datum.start + datum.end) / 2")
        .mark_text(color="black", fontSize=11)
        .encode(x=alt.X("middle:Q", scale=scale), y=y, text=alt.Text("value:Q", format=".0%"))
    )
    last = max(table["type"])
    others = (
        alt.Chart()
        .transform_filter(f"!datum.best && datum.type < {last}")
        .mark_tick(color="black", thickness=1.5, opacity=OTHER_SEEDS)
        .encode(x=alt.X("end:Q", scale=scale), y=y, tooltip=told)
    )
    return alt.LayerChart(layer=[bars, others, numbers], data=table)


def _rates(table: pl.DataFrame, color: alt.Color, behaviors: tuple[str, ...]) -> alt.LayerChart:
    most = float(np.max(table["value"].to_numpy()))
    axis = alt.Axis(format="%", tickCount=5)
    x = alt.X("value:Q", title=None, axis=axis, scale=alt.Scale(domain=[0, most], nice=True))
    y = alt.Y(
        "of:N", title=None, sort=list(behaviors), axis=alt.Axis(labelLimit=LABEL_LIMIT, grid=True)
    )
    told = [*_tooltip(), alt.Tooltip("value:Q", format=".1%")]
    best = (
        alt.Chart()
        .transform_filter("datum.best")
        .mark_point(filled=True, size=90, opacity=0.95)
        .encode(x=x, y=y, color=color, tooltip=told)
    )
    others = (
        alt.Chart()
        .transform_filter("!datum.best")
        .mark_tick(thickness=1.5, opacity=OTHER_SEEDS)
        .encode(x=x, y=y, color=color, tooltip=told)
    )
    return alt.LayerChart(layer=[others, best], data=table)


def _tooltip() -> list[str]:
    return ["cohort:N", "type:N", "of:N", "seed:N"]
