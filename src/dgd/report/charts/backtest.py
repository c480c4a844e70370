"""Who forecasts best: every forecaster beside the model, and what ranges cover and promise.

Scores are lower the better and have units of their own, so they are shown as a difference in per
cent of the model's. The intervals are those of the paired comparison over origins.
"""

from textwrap import wrap

import altair as alt
import polars as pl

from dgd.report.charts.colors import BETTER, LABELS, REFERENCE, UNDECIDED, WORSE
from dgd.scoring.backtesting import Backtest
from dgd.scoring.pairing import CONFIDENCE
from dgd.scoring.verdict import WORDS

ITSELF, BY_CHANCE, TOO_FEW = "itself", "not told apart from chance", "too few origins to tell"
ROW_HEIGHT, WIDTH, LETTERS = 20, 170, 118
"""Of a forecaster's row and of a panel, in points; letters in a line above them."""


def backtest_table(backtest: Backtest) -> pl.DataFrame:
    """One row per horizon, score and forecaster: its `value`, by how many per cent that is above
    the model's (`relative`, from `low` to `high` with 95% confidence where origins suffice), and
    what follows for the model, in words."""
    model = backtest.model
    each: pl.DataFrame = backtest.opponents("polars")
    own = each.group_by("horizon", "metric", maintain_order=True).agg(pl.col("score").first())
    if each.is_empty():
        alone: pl.DataFrame = backtest.to_frame("polars")
        known = pl.col("metric").is_in(list(WORDS))
        own = alone.filter(known).select("horizon", "metric", score="mean")
    nothing = pl.lit(None, pl.Float64)
    itself = own.select(
        "horizon",
        "metric",
        pl.lit(model).alias("forecaster"),
        pl.col("score").alias("value"),
        pl.when(pl.col("score").is_finite()).then(0.0).alias("relative"),
        nothing.alias("low"),
        nothing.alias("high"),
        pl.lit(f"{model} {ITSELF}").alias("verdict"),
    )
    others = each.select(
        "horizon",
        "metric",
        pl.col("opponent").alias("forecaster"),
        pl.col("opponent_score").alias("value"),
        _per_cent("difference").alias("relative"),
        _per_cent("high").alias("low"),
        _per_cent("low").alias("high"),
        _verdict(model).alias("verdict"),
    )
    order = pl.col("forecaster").replace_strict(
        {name: at for at, name in enumerate(_names(backtest))}
    )
    words = pl.col("metric").replace_strict(WORDS).alias("score")
    place = pl.col("metric").replace_strict({metric: at for at, metric in enumerate(WORDS)})
    rows = pl.concat([itself, others]).sort("horizon", place, order, maintain_order=True)
    return rows.select("horizon", words, pl.exclude("horizon", "metric"))


def backtest_coverage_table(backtest: Backtest) -> pl.DataFrame:
    """One row per horizon, forecaster and level: how many per cent of days its ranges hold, on the
    mean over arrivals and behaviours, and how many they promise."""
    ranges: pl.DataFrame = backtest.ranges("polars")
    return (
        ranges.group_by("horizon", "model", "level", maintain_order=True)
        .agg(pl.col("coverage").mean() * 100)
        .select(
            "horizon",
            pl.col("model").alias("forecaster"),
            pl.format("{} % range", pl.col("level").map_elements("{:g}".format, pl.String)).alias(
                "range"
            ),
            pl.col("level").alias("promised"),
            pl.col("coverage").alias("covered"),
        )
    )


def backtest_chart(backtest: Backtest) -> alt.HConcatChart:
    """A panel per score and a row per horizon; the dark line is the model. Right of it others do
    worse, and a bar is the interval of the difference. The last panel is what ranges cover."""
    table, coverage = backtest_table(backtest), backtest_coverage_table(backtest)
    names, looks = _names(backtest), _looks(backtest.model, set(table["verdict"]))
    panels: list[alt.FacetChart] = []
    for score in table["score"].unique(maintain_order=True):
        own = _ahead(table.filter(pl.col("score") == score), backtest)
        panels.append(_rows(_differences(names, looks, first=not panels), own, score))
    if coverage.height:
        own = _ahead(coverage, backtest)
        panels.append(_rows(_covered(own, names), own, "what ranges cover"))
    title = alt.TitleParams(
        "Who forecasts best", subtitle=_said(backtest), anchor="start", offset=14
    )
    return (
        alt.hconcat(*panels, spacing=24)
        .resolve_scale(color="independent", shape="independent")
        .properties(title=title)
    )


def _names(backtest: Backtest) -> list[str]:
    """The model first, then the others in their order."""
    return [backtest.model, *(name for name in backtest.fits if name != backtest.model)]


def _said(backtest: Backtest) -> list[str]:
    """The verdict on the first score of the shortest horizon, and how to read the panels."""
    model, verdict = backtest.model, backtest.verdict()
    if not verdict:
        return [f"{model} has no opponent to be held against"]
    explained = (
        f"dark line: {model}; a forecaster right of it has a higher score, so {model} is better; "
        f"bars: paired {CONFIDENCE:.0%} intervals"
    )
    return [line for sentence in (verdict[0], explained) for line in wrap(sentence, LETTERS)]


def _looks(model: str, found: set[str]) -> dict[str, tuple[str, str]]:
    """The color and shape of every verdict that was found."""
    looks = {
        f"{model} {ITSELF}": (REFERENCE, "square"),
        f"{model} better": (BETTER, "circle"),
        BY_CHANCE: (UNDECIDED, "diamond"),
        TOO_FEW: (UNDECIDED, "cross"),
        f"{model} worse": (WORSE, "triangle-down"),
    }
    return {verdict: look for verdict, look in looks.items() if verdict in found}


def _per_cent(column: str) -> pl.Expr:
    """A difference, model minus opponent, as the opponent's in per cent of the model's score."""
    found = -100 * pl.col(column) / pl.col("score")
    return pl.when(found.is_finite()).then(found)


def _verdict(model: str) -> pl.Expr:
    apart = pl.col("p_value") < 1 - CONFIDENCE
    return (
        pl.when(pl.col("p_value").is_null())
        .then(pl.lit(TOO_FEW))
        .when(apart & (pl.col("difference") < 0))
        .then(pl.lit(f"{model} better"))
        .when(apart)
        .then(pl.lit(f"{model} worse"))
        .otherwise(pl.lit(BY_CHANCE))
    )


def _ahead(table: pl.DataFrame, backtest: Backtest) -> pl.DataFrame:
    period = backtest.panel.period.name
    plural = pl.when(pl.col("horizon") > 1).then(pl.lit("s")).otherwise(pl.lit(""))
    return table.with_columns(ahead=pl.format(f"{{}} {period}{{}} ahead", "horizon", plural))


def _rows(panel: alt.LayerChart, table: pl.DataFrame, title: str) -> alt.FacetChart:
    """The panel for every horizon."""
    order = table["ahead"].unique(maintain_order=True).to_list()
    header = alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold")
    return panel.facet(
        row=alt.Row("ahead:N", title=None, sort=order, header=header), data=table
    ).properties(title=alt.TitleParams(title, anchor="start"))


def _forecasters(names: list[str], shown: bool) -> alt.Y:
    axis = alt.Axis(labels=shown, ticks=shown, labelLimit=200, grid=True)
    return alt.Y("forecaster:N", title=None, scale=alt.Scale(domain=names), axis=axis)


def _differences(
    names: list[str], looks: dict[str, tuple[str, str]], first: bool
) -> alt.LayerChart:
    """Differences to the model; the first panel names the forecasters and has the legend."""
    colors, shapes = (
        alt.Scale(domain=list(looks), range=list(look))
        for look in zip(*looks.values(), strict=True)
    )
    legend = alt.Legend(orient="bottom", direction="vertical") if first else None
    base = alt.Chart().encode(
        y=_forecasters(names, first),
        color=alt.Color("verdict:N", title=None, scale=colors, legend=legend),
    )
    x = alt.X("relative:Q", title="score above the model's, %", axis=alt.Axis(tickCount=4))
    zero = alt.Chart().mark_rule(color=REFERENCE, strokeWidth=1.5).encode(x=alt.datum(0.0))
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q")
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        x=x,
        shape=alt.Shape("verdict:N", title=None, scale=shapes, legend=legend),
        tooltip=["forecaster:N", "value:Q", "relative:Q", "low:Q", "high:Q", "verdict:N"],
    )
    return _panel([zero, bars, points], names)


def _covered(table: pl.DataFrame, names: list[str]) -> alt.LayerChart:
    """What each range covers as a point, what it promises as a dashed line."""
    ranges = table["range"].unique(maintain_order=True).to_list()
    color = alt.Color(
        "range:N",
        title=None,
        scale=alt.Scale(domain=ranges, range=list(LABELS)),
        legend=alt.Legend(orient="bottom"),
    )
    base = alt.Chart().encode(color=color)
    axis = alt.X(
        "covered:Q", title="of the days, %", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4)
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        x=axis,
        y=_forecasters(names, shown=False),
        tooltip=["forecaster:N", "range:N", "promised:Q", "covered:Q"],
    )
    promised = base.mark_rule(strokeDash=[4, 3], strokeWidth=1.5).encode(x="promised:Q")
    return _panel([promised, points], names)


def _panel(marks: list[alt.Chart], names: list[str]) -> alt.LayerChart:
    return alt.LayerChart(layer=marks, width=WIDTH, height=ROW_HEIGHT * len(names))
