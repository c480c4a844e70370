"""Can the numbers be trusted? Every check at a glance, and below them what to read with care."""

from textwrap import wrap

import altair as alt
import polars as pl

from dgd.diagnostics.checkup import Checkup
from dgd.report.charts.colors import BETTER, REFERENCE, UNDECIDED, WORSE

LEAST = 1e-6
"""Parts of a bound smaller than this are drawn as this."""
LOOKS = {
    "holds": (BETTER, "circle"),
    "exceeds": (WORSE, "triangle-up"),
    "has no bound": (UNDECIDED, "square"),
}
MOST_WARNINGS = 12
WIDTH, ROW_HEIGHT, LABELS, LETTERS = 300, 18, 195, 108
"""Of the panel, of a row and of the names of checks, in points; letters in a line of words."""


def check_table(checkup: Checkup) -> pl.DataFrame:
    """One row per check: the worst figure `found`, its `bound`, the `part` of the bound that is
    taken, and the verdict in a word."""
    part = pl.when(pl.col("bound") > 0).then(pl.col("found") / pl.col("bound"))
    verdict = (
        pl.when(pl.col("holds").is_null())
        .then(pl.lit("has no bound"))
        .when("holds")
        .then(pl.lit("holds"))
        .otherwise(pl.lit("exceeds"))
    )
    return checkup.summary().select(
        "check", "found", "bound", part.alias("part"), verdict.alias("verdict")
    )


def check_chart(checkup: Checkup) -> alt.VConcatChart:
    """A row per check: how much of its bound is taken, on a log scale; the dark line is the bound.
    Below stand the warnings."""
    table = check_table(checkup)
    title = alt.TitleParams(
        "Can the numbers be trusted?", subtitle=wrap(checkup.verdict, LETTERS), anchor="start"
    )
    parts: list[alt.Chart | alt.LayerChart] = [_checks(table)]
    if checkup.warnings.height:
        parts.append(_warnings(checkup.warnings))
    return alt.vconcat(*parts, spacing=16).properties(title=title)


def _checks(table: pl.DataFrame) -> alt.LayerChart:
    shown = table.with_columns(
        drawn=pl.col("part").clip(lower_bound=LEAST),
        least=pl.lit(LEAST),
        words=pl.struct("found", "bound", "verdict").map_elements(_words, pl.String),
    )
    found = [word for word in LOOKS if word in set(table["verdict"])]
    colors, shapes = (
        alt.Scale(domain=found, range=[LOOKS[word][at] for word in found]) for at in (0, 1)
    )
    y = alt.Y("check:N", title=None, sort=table["check"].to_list(), axis=alt.Axis(labelLimit=320))
    color = alt.Color("verdict:N", title=None, scale=colors, legend=alt.Legend(orient="top"))
    base = alt.Chart(shown).encode(y=y, color=color)
    drawn = base.transform_filter("isValid(datum.drawn)")
    x = alt.X(
        "drawn:Q",
        title="part of the bound that is taken",
        scale=alt.Scale(type="log", domainMin=LEAST, nice=True),
        axis=alt.Axis(format="~g", tickCount=6),
    )
    bound = alt.Chart().mark_rule(color=REFERENCE, strokeWidth=1.5).encode(x=alt.datum(1.0))
    stems = drawn.mark_rule(strokeWidth=1.5).encode(x=x, x2="least:Q")
    points = drawn.mark_point(filled=True, size=60, opacity=1).encode(
        x=x,
        shape=alt.Shape("verdict:N", title=None, scale=shapes),
        tooltip=["check:N", "found:Q", "bound:Q", "verdict:N"],
    )
    words = base.mark_text(align="left", baseline="middle").encode(
        x=alt.value(WIDTH + 8), text="words:N"
    )
    marks = [bound, stems, points, words]
    return alt.LayerChart(layer=marks, width=WIDTH, height=ROW_HEIGHT * table.height)


def _words(row: dict[str, float | str | None]) -> str:
    """The verdict with its figures."""
    if row["bound"] is None:
        return f"{row['found']:.3g}, {row['verdict']}"
    return f"{row['verdict']}: {row['found']:.3g} of {row['bound']:.3g}"


def _warnings(warnings: pl.DataFrame) -> alt.Chart:
    lines = []
    for row in warnings.head(MOST_WARNINGS).iter_rows(named=True):
        of_seed = "" if row["seed"] is None else f"seed {row['seed']}: "
        told = f"{of_seed}{row['warning']}, {row['where']} ({row['value']:.2g}); {row['advice']}."
        lines += wrap(told, LETTERS, subsequent_indent="    ")
    left = warnings.height - MOST_WARNINGS
    if left > 0:
        lines.append(f"... and {left} more warnings")
    table = pl.DataFrame({"line": range(len(lines)), "words": lines})
    return (
        alt.Chart(table)
        .mark_text(align="left", baseline="middle")
        .encode(y=alt.Y("line:O", axis=None), x=alt.value(-LABELS), text="words:N")
        .properties(
            width=WIDTH,
            height=ROW_HEIGHT * len(lines),
            title=alt.TitleParams("Read with care", anchor="start"),
            view=alt.ViewBackground(strokeOpacity=0),
        )
    )
