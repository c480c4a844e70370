"""The method figure, panels (a) to (c): one day of one cohort of Retail 2010 through the model."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import polars as pl

from dgd.errors import InputError
from dgd.fit import Fit
from dgd.paper.method_day import BASE, TRANSLATED, WHOLE, MethodDay
from dgd.paper.models import SEEDS, Scored
from dgd.paper.presets import paper_preset
from dgd.paper.windows import Tell, Windows
from dgd.runtime import computing

WINDOW = "Retail 2010"
COLORS = ("#bbbbbb", "#e69f00", "#56b4e9", "#0072b2")
"""Neither behaviour, each of them alone, and both."""
BEFORE, AFTER = "#999999", "#222222"
EXPECTED, RECORDED = "expected", "recorded"
ROW_HEIGHT = 110


def method_figure(scored: Scored) -> alt.HConcatChart:
    """The figure, from a fit of its own."""
    return method_chart(telling_day(method_fit(scored.windows, scored.progress)))


def method_fit(windows: Windows, tell: Tell) -> Fit:
    """The paper's settings fitted to Retail 2010, with the first of its seeds."""
    if WINDOW not in windows.retail:
        raise InputError(
            f"the method figure is made from {WINDOW}, which is not there; get it with `dgd data "
            "fetch online-retail`, or name the folder that holds a copy with --data or DGD_DATA."
        )
    dataset = windows.retail[WINDOW]
    preset = paper_preset(WINDOW, dataset)
    tell(f"fitting {preset.named('DGD')} on {WINDOW}")
    fit: Fit = preset.model().fit(
        dataset.panel,
        warmup_end=dataset.window.warmup_end,
        train_end=dataset.window.train_end,
        validation_end=dataset.window.validation_end,
        seeds=SEEDS[:1],
    )
    return fit


def telling_day(fit: Fit, number: int = 0) -> MethodDay:
    """The cohort with most arrivals among those whose people were counted, on the day after
    training whose state has moved it furthest."""
    panel, split = fit.panel, fit.split
    counted = panel.size[split.train_stop - 1] > 1
    arrivals = panel.arrivals[split.train].sum(0)
    most = np.where(counted, arrivals, -1).argmax() if counted.any() else arrivals.argmax()
    unit, cohort = (int(index) for index in np.unravel_index(most, arrivals.shape))
    with computing():
        moved = np.asarray(fit.crowds[number].moved(fit.states[number]))[:, cohort, 0]
    days = np.arange(split.train_stop, panel.days)
    seen = panel.arrivals[days, unit, cohort] > 0
    shift = np.where(seen, np.abs(moved[days - split.first]), -1.0)
    return MethodDay.of(fit, number, int(days[shift.argmax()]), unit, cohort)


def method_chart(day: MethodDay) -> alt.HConcatChart:
    """The mixture and its shift, the nodes and what they add, and the counts that follow."""
    panel = day.fit.panel
    where = f"{panel.cohorts[day.cohort]}, {panel.dates[day.day]}"
    about = alt.TitleParams(
        "Differentiable Gaussian Dynamics, one day of one cohort",
        subtitle=f"{where}; shown are {' and '.join(day.names)}, other behaviours are summed over",
        subtitleColor="#555555",
    )
    chart = alt.hconcat(_mixture(day), _nodes(day), _counts(day), spacing=36)
    return chart.resolve_scale(color="independent", size="independent").properties(title=about)


def _mixture(day: MethodDay) -> alt.LayerChart:
    """(a): lines are mixtures, dashed ones components; nodes by weight where they stand."""
    scale = alt.Scale(domain=[BASE, TRANSLATED], range=[BEFORE, AFTER])
    legend = alt.Legend(orient="bottom", symbolType="stroke", direction="vertical", labelLimit=240)
    color = alt.Color("mixture:N", title=None, scale=scale, legend=legend)
    base = alt.Chart(day.mixture_table()).encode(
        x=alt.X("propensity:Q", title="propensity u"),
        y=alt.Y("density:Q", title="density"),
        color=color,
        detail="part:N",
    )
    whole = base.transform_filter(alt.datum.part == WHOLE).mark_line(strokeWidth=2.2)
    parts = base.transform_filter(alt.datum.part != WHOLE).mark_line(
        strokeWidth=1.2, strokeDash=[4, 3]
    )
    nodes = day.node_table().unique("node", maintain_order=True)
    places = pl.concat(
        nodes.select(pl.col(column).alias("propensity"), "weight", pl.lit(name).alias("mixture"))
        for column, name in (("base propensity", BASE), ("propensity", TRANSLATED))
    )
    points = (
        alt.Chart(places)
        .mark_point(filled=True, opacity=0.7)
        .encode(
            x="propensity:Q",
            y=alt.datum(0.0),
            color=color,
            size=alt.Size("weight:Q", title="weight", legend=None),
        )
    )
    title = alt.TitleParams(
        "(a) The state translates the mixture",
        subtitle=f"shift {day.shift:+.2f}; dashed: components; points: nodes by weight",
        anchor="start",
    )
    return alt.LayerChart(layer=[parts, whole, points], width=280, height=300, title=title)


def _pattern_color(day: MethodDay, legend: alt.Legend | None) -> alt.Color:
    scale = alt.Scale(domain=day.labels, range=list(COLORS)[: len(day.labels)])
    return alt.Color("pattern:N", title=None, scale=scale, sort=day.labels, legend=legend)


def _nodes(day: MethodDay) -> alt.VConcatChart:
    """(b): intensity and joint probabilities of each node, and their weighted product."""
    table = day.node_table().with_columns(
        pl.col("pattern").replace_strict({n: i for i, n in enumerate(day.labels)}).alias("order")
    )
    base = alt.Chart(table)
    color = _pattern_color(day, alt.Legend(orient="bottom", columns=2, labelLimit=300))
    unlabelled = alt.Axis(labels=False, ticks=False)
    rows = [
        base.transform_filter("datum.order == 0")
        .mark_bar(color=AFTER)
        .encode(
            x=alt.X("node:O", title=None, axis=unlabelled),
            y=alt.Y("intensity:Q", title="arrivals \N{SCRIPT SMALL L}(u)"),
        ),
        base.mark_bar().encode(
            x=alt.X("node:O", title=None, axis=unlabelled),
            y=alt.Y("probability:Q", title="p(y | u)", scale=alt.Scale(domain=[0, 1])),
            color=color,
            order="order:Q",
        ),
        base.mark_bar().encode(
            x=alt.X("node:O", title="node, by propensity", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("contribution:Q", title="π w \N{SCRIPT SMALL L}(u) p(y | u)"),
            color=color,
            order="order:Q",
        ),
    ]
    title = alt.TitleParams(
        "(b) Contact and behaviour are multiplied at each node",
        subtitle="then weighted and summed into the intensities A(y)",
    )
    sized = [row.properties(width=300, height=ROW_HEIGHT) for row in rows]
    return alt.vconcat(*sized, spacing=8).properties(title=title)


def _counts(day: MethodDay) -> alt.VConcatChart:
    """(c): intensities, the probabilities they give, and counts expected and recorded."""
    patterns = day.pattern_table()
    x = alt.X("pattern:N", title=None, sort=day.labels, axis=alt.Axis(labels=False, ticks=False))
    bars = [
        alt.Chart(patterns)
        .mark_bar()
        .encode(x=x, y=alt.Y(f"{column}:Q", title=words), color=_pattern_color(day, None))
        for column, words in (("intensity", "A(y)"), ("probability", "q(y) = A(y) / D"))
    ]
    counts = day.count_table().unpivot(
        [EXPECTED, RECORDED], index="count of", variable_name="how", value_name="count"
    )
    names: Sequence[str] = ["arrivals", *day.names]
    scale = alt.Scale(domain=[EXPECTED, RECORDED], range=["#009e73", "#555555"])
    beside = (
        alt.Chart(counts)
        .mark_bar()
        .encode(
            x=alt.X("count of:N", title=None, sort=list(names), axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("how:N", sort=[EXPECTED, RECORDED]),
            y=alt.Y("count:Q", title="counts"),
            color=alt.Color("how:N", title=None, scale=scale, legend=alt.Legend(orient="bottom")),
        )
    )
    title = alt.TitleParams(
        "(c) Intensities become counts",
        subtitle=f"D = {day.total:.3g}, n = {day.size:,.0f}, n D = {day.size * day.total:.3g}",
    )
    sized = [chart.properties(width=280, height=ROW_HEIGHT) for chart in (*bars, beside)]
    return alt.vconcat(*sized, spacing=8).resolve_scale(color="independent").properties(title=title)
