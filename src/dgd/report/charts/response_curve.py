"""What other efforts would bring, cohort by cohort and all together."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl
from narwhals.typing import IntoFrame

from dgd.fit import Fit
from dgd.report.charts.colors import REFERENCE, label_scale
from dgd.scenarios.multiples import EVERYBODY
from dgd.tables.labels import Label
from dgd.tables.periods import Moment

IN_A_ROW, WIDTH, HEIGHT = 2, 300, 170
LEARNED, ASSUMED = "learned", "assumed"
SHAPES = {LEARNED: "circle", ASSUMED: "square"}


def response_curve_table(
    fit: Fit,
    efforts: Sequence[float] | None = None,
    horizon: int = 7,
    *,
    origin: Moment | None = None,
    effort: IntoFrame | None = None,
    features: IntoFrame | None = None,
) -> pl.DataFrame:
    """One row per cohort (and "all" of them together), multiple of effort and series: what the
    days ahead would bring the cohort, whether training has `seen` such efforts, and whether the
    `response` was learned or is assumed.

    The arguments are those of `fit.response_curve`.
    """
    asked: dict[str, Any] = {"efforts": efforts, "horizon": horizon, "origin": origin}
    asked |= {"effort": effort, "features": features, "kind": "polars"}
    cohorts: list[Label | None] = [None]
    if len(fit.panel.cohorts) > 1 and EVERYBODY not in fit.panel.cohorts:
        cohorts.append(EVERYBODY)
    own = pl.col(fit.panel.columns.cohort).cast(pl.String).alias("cohort")
    facts = ["multiple", "effort", "seen", "learned"]
    parts = [
        fit.response_curve(cohort, **asked)
        .select(own, *facts, *fit.panel.series)
        .unpivot(list(fit.panel.series), index=["cohort", *facts], variable_name="series")
        for cohort in cohorts
    ]
    response = pl.when("learned").then(pl.lit(LEARNED)).otherwise(pl.lit(ASSUMED))
    return pl.concat(parts).select(
        "cohort", "series", "multiple", "effort", "value", "seen", response.alias("response")
    )


def response_curve_chart(
    fit: Fit,
    efforts: Sequence[float] | None = None,
    horizon: int = 7,
    *,
    origin: Moment | None = None,
    effort: IntoFrame | None = None,
    features: IntoFrame | None = None,
) -> alt.FacetChart:
    """A panel per series and a line per cohort, dashed where training has seen no such efforts;
    the upright line is the plan.

    The arguments are those of `fit.response_curve`.
    """
    table = response_curve_table(
        fit, efforts, horizon, origin=origin, effort=effort, features=features
    )
    days = f"{horizon} {fit.panel.period.name}s" if horizon > 1 else f"a {fit.panel.period.name}"
    title = alt.TitleParams(
        f"What other efforts would bring over {days}", subtitle=_said(table), anchor="start"
    )
    series = list(fit.panel.series)
    return (
        alt.layer(*_marks(fit, table), data=table)
        .properties(width=WIDTH, height=HEIGHT)
        .facet(alt.Facet("series:N", title=None, sort=series), columns=IN_A_ROW)
        .resolve_scale(y="independent")
        .resolve_axis(x="independent")
        .properties(title=title)
    )


def _marks(fit: Fit, table: pl.DataFrame) -> list[alt.Chart]:
    shown = table["cohort"].unique(maintain_order=True).to_list()
    scale = label_scale(shown)
    if EVERYBODY not in fit.panel.cohorts and EVERYBODY in shown:
        scale = alt.Scale(domain=shown, range=[*scale.range[: len(shown) - 1], REFERENCE])
    base = alt.Chart().encode(
        x=alt.X("multiple:Q", title="effort, as a multiple of the plan"),
        y=alt.Y("value:Q", title=None),
        color=alt.Color("cohort:N", title=fit.panel.columns.cohort, scale=scale),
    )
    plan = alt.Chart().mark_rule(color=REFERENCE, strokeDash=[2, 2]).encode(x=alt.datum(1.0))
    # the whole curve dashed, and what was seen drawn over it
    beyond = base.mark_line(strokeWidth=1.5, strokeDash=[5, 4])
    seen = base.transform_filter("datum.seen").mark_line(strokeWidth=2)
    kinds = [kind for kind in SHAPES if kind in set(table["response"])]
    points = base.mark_point(filled=True, opacity=1).encode(
        shape=alt.Shape(
            "response:N",
            title="response",
            scale=alt.Scale(domain=kinds, range=[SHAPES[kind] for kind in kinds]),
        ),
        size=alt.condition("datum.multiple == 1", alt.value(90), alt.value(22)),
        tooltip=["cohort:N", "multiple:Q", "effort:Q", "value:Q", "seen:N", "response:N"],
    )
    return [plan, beyond, seen, points]


def _said(table: pl.DataFrame) -> list[str]:
    said = ["upright line and large points: as planned; dashed: more than training has seen"]
    if ASSUMED in set(table["response"]):
        said.append("squares: the response was not learned; it is assumed to be proportional")
    return said
