"""What is carried from day to day: one panel for each state, a line for each cohort."""

import altair as alt
import polars as pl

from dgd.errors import InputError
from dgd.fit import Fit
from dgd.learning.carried_days import COMMON, ENVIRONMENT, EVERYONE
from dgd.report.charts.colors import LABELS, REFERENCE, label_scale
from dgd.report.charts.days_ahead import WIDTH, date_axis

MOST_DATES = 400
"""Dates of a chart; of more, every second, third, ... is drawn."""
MOST_UNITS = 8
"""Units whose environment is drawn beside what they share; the table has all of them."""
HEIGHT = 90
ENDS = {"train_stop": "validation", "validation_stop": "test"}
"""What begins where a range of the split stops."""
LINE_OF_TEXT = 12
KEYS = ["state", "of", "who", "date"]


def feedback_table(fit: Fit) -> pl.DataFrame:
    """One row per state, what of it, whose it is and date: the mean over seeds and their extremes.

    `reference` is the rate that memory settles at when days are as before training.
    """
    value = pl.col("value")
    table: pl.DataFrame = fit.feedback("polars")
    return table.group_by(KEYS, maintain_order=True).agg(
        value.mean(),
        value.min().alias("low"),
        value.max().alias("high"),
        pl.col("reference").mean(),
    )


def feedback_chart(fit: Fit) -> alt.VConcatChart:
    """Lines are the mean over seeds, bands their extremes; upright lines are where validation and
    test begin, dashed ones the long-run rates that memory is read against."""
    table = feedback_table(fit)
    if table.is_empty():
        raise InputError(
            "nothing is carried from day to day in this fit; fit with dynamics=feedback to see "
            "what is."
        )
    dates = table["date"].unique().sort()
    kept = dates.gather_every(-(-len(dates) // MOST_DATES))
    told = table.filter(pl.col("date").is_in(kept.implode())).with_columns(_panel().alias("panel"))
    around = pl.col("state") == ENVIRONMENT
    charts = [
        *_of_cohorts(told.filter(~around), fit),
        *([_environment(told.filter(around), fit)] if told.filter(around).height else []),
    ]
    about = alt.TitleParams(
        f"What is carried from {fit.panel.period.name} to {fit.panel.period.name}",
        subtitle=_explained(fit),
        subtitleColor="#555555",
    )
    return alt.vconcat(*charts).resolve_scale(color="independent").properties(title=about)


def _of_cohorts(table: pl.DataFrame, fit: Fit) -> list[alt.FacetChart]:
    """Rates in per cent, then whatever else cohorts carry; one legend for both."""
    cohorts = [str(cohort) for cohort in fit.panel.cohorts]
    color = _color(cohorts, label_scale(cohorts), "cohort")
    rates = pl.col("reference").is_not_null()
    charts = []
    for own, axis in (
        (table.filter(rates), alt.Axis(format=".0%", tickCount=4)),
        (table.filter(~rates), alt.Axis(tickCount=4)),
    ):
        if own.height:
            charts.append(_panels(own, fit, color, axis))
            color = alt.Color("who:N", scale=label_scale(cohorts), legend=None)
    return charts


def _panel() -> pl.Expr:
    named = pl.format("{} of {}", "state", "of")
    return pl.when(pl.col("of").is_null()).then("state").otherwise(named)


def _explained(fit: Fit) -> list[str]:
    seeds = "Lines: the mean over seeds; bands: their extremes. " if len(fit.seeds) > 1 else ""
    return [
        f"{seeds}All states are zero on the first training {fit.panel.period.name}.",
        "Memory: rates people have lately seen, dashed where they settle in the long run.",
    ]


def _environment(table: pl.DataFrame, fit: Fit) -> alt.FacetChart:
    """By how much more arrives than features and people say; what units share, and a few units."""
    units = table.filter(pl.col("of") != COMMON)["who"].unique(maintain_order=True).to_list()
    shown = units if len(units) <= MOST_UNITS else []
    kept = table.filter((pl.col("of") == COMMON) | pl.col("who").is_in(shown)).with_columns(
        pl.when(pl.col("of") == COMMON)
        .then(pl.lit(f"{EVERYONE} units"))
        .otherwise("who")
        .alias("who"),
        *(pl.col(name).exp() - 1 for name in ("value", "low", "high")),
        pl.lit("environment: arrivals above or below what is usual").alias("panel"),
    )
    names = [f"{EVERYONE} units", *shown]
    scale = alt.Scale(domain=names, range=[REFERENCE, *LABELS])
    color = _color(names, scale, "environment of")
    return _panels(kept, fit, color, alt.Axis(format="+.0%", tickCount=4))


def _color(labels: list[str], scale: alt.Scale, title: str) -> alt.Color:
    columns = 4 if len(labels) > 4 else len(labels)
    legend = alt.Legend(
        orient="top", columns=columns, symbolType="stroke", symbolOpacity=1.0, labelLimit=240
    )
    return alt.Color("who:N", title=title, scale=scale, legend=legend)


def _panels(table: pl.DataFrame, fit: Fit, color: alt.Color, axis: alt.Axis) -> alt.FacetChart:
    order = table["panel"].unique(maintain_order=True).to_list()
    y = alt.Y("value:Q", title=None, axis=axis, scale=alt.Scale(zero=False))
    base = alt.Chart().encode(x=date_axis(table["date"]))
    own = base.transform_filter("isValid(datum.value)")
    band = own.mark_area(opacity=0.2).encode(
        y=alt.Y("low:Q", title=None, axis=axis), y2="high:Q", color=color
    )
    layers = [band, *_settled(own, table, color, axis)]
    line = own.mark_line(strokeWidth=1.5).encode(
        y=y,
        color=color,
        tooltip=["date:T", "who:N", alt.Tooltip("value:Q", format=".3f")],
    )
    marked = base.transform_filter("isValid(datum.begins)")
    rule = marked.mark_rule(color="#888888")
    # One below the other, or they would stand on each other where validation is short.
    texts = [
        marked.transform_filter(alt.datum.begins == words)
        .mark_text(align="left", dx=3, y=2 + LINE_OF_TEXT * place, baseline="top", color="#666666")
        .encode(text="begins:N")
        for place, words in enumerate(ENDS.values())
    ]
    data = pl.concat([table, _beginnings(fit, order)], how="diagonal_relaxed")
    header = alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold")
    return (
        alt.layer(*layers, line, rule, *texts, data=data)
        .properties(width=WIDTH, height=HEIGHT)
        .facet(row=alt.Row("panel:N", title=None, sort=order, header=header), spacing=8)
        .resolve_scale(y="independent")
    )


def _settled(
    own: alt.Chart, table: pl.DataFrame, color: alt.Color, axis: alt.Axis
) -> list[alt.Chart]:
    """Where a state ends in the long run, for those that say it."""
    if table["reference"].is_null().all():
        return []
    usual = own.mark_line(strokeWidth=1, strokeDash=[4, 4], opacity=0.7)
    return [usual.encode(y=alt.Y("reference:Q", title=None, axis=axis), color=color)]


def _beginnings(fit: Fit, panels: list[str]) -> pl.DataFrame:
    """Where validation and test begin, once for every panel."""
    panel = fit.panel
    days = {ENDS[name]: getattr(fit.split, name) for name in ENDS}
    inside = {words: day for words, day in days.items() if day < panel.days}
    begins = pl.DataFrame(
        [
            panel.period.series("date", panel.dates[list(inside.values())]),
            pl.Series("begins", list(inside), pl.String),
        ]
    )
    return begins.join(pl.DataFrame({"panel": panels}), how="cross")
