"""Scenarios and plans as people read them, in the shell and in a notebook."""

from collections.abc import Sequence

import polars as pl

from dgd.tables.figures import ends_in_words, four_figures

MOST_WARNINGS = 8
CAUSES = ("contacts", "other people", "other answers", "fatigue")
"""The causes in short, in the order of `scenarios.causes.CAUSES`."""


def told(notes: Sequence[str], warnings: Sequence[str]) -> list[str]:
    """What was assumed and what goes beyond the data, a sentence each."""
    said = [f"note: {sentence}" for sentence in notes]
    said += [f"warning: {sentence}" for sentence in warnings[:MOST_WARNINGS]]
    left = len(warnings) - MOST_WARNINGS
    return [*said, f"... and {left} more warnings"] if left > 0 else said


def shown_totals(totals: pl.DataFrame, levels: Sequence[float]) -> pl.DataFrame:
    """Totals as planned and changed, with the range of the difference at the first of `levels`."""
    before, more = totals["baseline"], totals["difference"]
    shares = [100 * b / a if a > 0 else None for a, b in zip(before, more, strict=True)]
    per_cent = ["" if share is None else f"{share:+,.1f}" for share in shares]
    planned, changed = four_figures(before, totals["changed"])
    columns = [
        planned.alias("planned"),
        changed,
        four_figures(more)[0].alias("change"),
        pl.Series("%", per_cent, pl.String),
    ]
    for level in levels[:1]:
        ends = (totals[f"difference_{end}_{level:g}"] for end in ("low", "high"))
        columns.append(pl.Series(f"{level:g} % range", ends_in_words(*ends), pl.String))
    labels = totals.columns[: totals.columns.index("baseline")]
    return totals.select(labels).with_columns(columns)


def shown_causes(split: pl.DataFrame) -> pl.DataFrame:
    """The difference and its causes, with headings that stand side by side."""
    difference, *causes = four_figures(*split.drop("series"))
    named = [one.alias(heading) for one, heading in zip(causes, CAUSES, strict=True)]
    return split.select("series").with_columns(difference, *named)


def shown_spreads(summary: pl.DataFrame) -> pl.DataFrame:
    """What each spread of a plan brings, the spreads as columns, for behaviours may be many."""
    measures = summary.drop("spread")
    spreads = summary["spread"].to_list()
    rows = [
        {"": name.replace("_", " ").replace(" percent", ", %")}
        | dict(zip(spreads, four_figures(measures[name])[0], strict=True))
        for name in measures.columns
    ]
    return pl.DataFrame(rows)


def shown_efforts(table: pl.DataFrame) -> pl.DataFrame:
    """Effort as planned, as it is now and spread evenly, to be read across."""
    return table.with_columns(four_figures(*(table[name] for name in ("effort", "now", "even"))))
