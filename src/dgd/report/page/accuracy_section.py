"""How good the forecasts are, against simple opponents on days that nothing was chosen on."""

from typing import Any

import polars as pl

from dgd.report.charts.backtest import backtest_chart, backtest_table
from dgd.report.page.figures import figure, folded
from dgd.report.page.findings import MODEL, Findings
from dgd.report.page.parts import Section, bullets, paragraphs

ERRORS = {"arrival_mae": "arrivals", "behavior_count_mae": "behaviour counts"}
"""Scores that a sentence can tell, and what they are errors of."""


def accuracy_section(found: Findings) -> Section:
    if found.backtest is None:
        return Section("accuracy", "How good it is", paragraphs(standing_sentences(found)))
    words = (
        "Scores of the model and of its simple opponents on the test days, and how often ranges "
        "held what they promised."
    )
    chart = backtest_chart(found.backtest)
    body = (
        bullets(standing_sentences(found))
        + figure("accuracy-chart", chart, words, backtest_table(found.backtest))
        + "<h3>In the words of a backtest</h3>"
        + bullets(found.backtest.verdict())
        + folded("All scores", found.backtest.to_frame("polars"))
        + folded("All ranges", found.backtest.ranges("polars"))
    )
    return Section("accuracy", "How good it is", body)


def standing_sentences(found: Findings) -> list[str]:
    """How the model stands in plain words, one sentence per step ahead."""
    scored = found.backtest
    panel, split = found.fit.panel, found.fit.split
    if scored is None:
        left = panel.days - split.validation_stop
        return [
            f"Only {left} {found.days} were left after validation, too few to say how good the "
            "forecasts are; fit on earlier days, or wait, to know."
        ]
    compared: pl.DataFrame = scored.comparison("polars")
    return [
        _standing(rows, step, found)
        for (step,), rows in compared.group_by("horizon", maintain_order=True)
    ]


def _standing(rows: pl.DataFrame, step: Any, found: Findings) -> str:
    period = found.fit.panel.period.name
    ahead = f"{step} {period}{'s' if step > 1 else ''} ahead"
    parts = []
    by_metric = {row["metric"]: row for row in rows.iter_rows(named=True)}
    for metric, words in ERRORS.items():
        row = by_metric[metric]
        told = "better" if row["score"] < row["opponent_score"] else "worse"
        parts.append(
            f"{words} were off by {row['score']:,.2f} a {period}, the best simple "
            f"opponent ({row['opponent']}) by {row['opponent_score']:,.2f}: {told}, {_sure(row)}"
        )
    origins = by_metric[next(iter(ERRORS))]["origins"]
    return f"On {origins} test {found.days}, {ahead}, {MODEL}'s {'; '.join(parts)}."


def _sure(row: dict[str, Any]) -> str:
    """Whether a difference is more than chance."""
    if row["low"] is None:
        return "from too few origins to tell it from chance"
    return "more than chance" if row["low"] * row["high"] > 0 else "not told apart from chance"
