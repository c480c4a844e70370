"""The arena for a person: the same tables on the terminal and on a page."""

from collections.abc import Iterable

import polars as pl

from dgd.arena.metrics import AS_DIFFERENCE, METRICS, is_difference
from dgd.arena.sections import with_section
from dgd.arena.standing import standings, taken_away

TAKEN_AWAY_TITLE = "take-away: the change without one part"

TITLE = "## The accuracy arena"
"""What the section of a page of results begins with."""

HEAD = f"""\
{TITLE}

Written by `dgd reproduce arena --results docs/results.md`. Every model forecasts the test days of
every window from rolling origins and is scored one, three and seven days ahead, by the mean over
three training seeds. "default" is `DGD()`, "paper preset" is `DGD.paper()`; the others of the
library are the default with one part taken away by one setting. AutoETS,
AutoTheta and AutoARIMA, where StatsForecast is installed, see daily totals only, so that they
have no scores of single patterns and cells.

The mark is the best of five simple opponents (training, smoothed, last-day, weekday and slow
history), picked with hindsight on each window, horizon and metric, so that it is at least as hard
as any one of them. A figure is the geometric mean over windows of score / mark, below 1 where the
model is better; of the joint NLL it is the mean of score - mark, below 0 where it is better. Test
scores of these windows were at hand while the library was built."""

TAKEN_AWAY_NOTE = """\
How the default's score changes, per cent of it or the difference of the joint NLL; above zero the
part helps."""


def shown_tables(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """What is printed, by title: the standing in every metric, then what every part is worth."""
    standing = standings(rows)
    tables = {
        _title(metric): _standing(standing.filter(metric=metric), metric in AS_DIFFERENCE)
        for metric in standing["metric"].unique(maintain_order=True)
    }
    return {**tables, TAKEN_AWAY_TITLE: _changes(taken_away(rows))}


def joined(text: str, rows: pl.DataFrame) -> str:
    """A page of results with this arena in the place of the one before, or behind the rest."""
    return with_section(text, page(rows))


def page(rows: pl.DataFrame) -> str:
    """The whole of the arena as Markdown."""
    sets = rows["set"].unique(maintain_order=True)
    parts = [HEAD, f"Windows: {', '.join(sets)}."]
    for title, table in shown_tables(rows).items():
        parts.append(f"### {title[0].upper()}{title[1:]}")
        if title == TAKEN_AWAY_TITLE:
            parts.append(TAKEN_AWAY_NOTE)
        parts.append("\n".join(_lines(table)))
    return "\n\n".join(parts) + "\n"


def _title(metric: str) -> str:
    beside = "score - mark" if metric in AS_DIFFERENCE else "score / mark"
    return f"{METRICS[metric]}, {beside}"


def _standing(table: pl.DataFrame, difference: bool) -> pl.DataFrame:
    """One row per horizon and model, in words."""
    beside = "difference" if difference else "ratio"
    shown = "{:+.4f}" if difference else "{:.4f}"
    return table.select(
        pl.col("horizon").alias("ahead"),
        "model",
        _text("figure", shown).alias(beside),
        pl.format("{} of {}", "won", "windows").alias("won"),
        pl.format("{} ({})", "worst_window", _text("worst", shown)).alias("worst window"),
    )


def _changes(table: pl.DataFrame) -> pl.DataFrame:
    """One row per metric and part, a column for every horizon."""
    change = (
        pl.when(is_difference())
        .then(_text("change", "{:+.4f}"))
        .otherwise(_text("change", "{:+.2f}%"))
    )
    named = table.select(
        pl.col("metric").replace_strict(METRICS),
        pl.col("model").alias("part"),
        pl.format("{} ahead", "horizon").alias("ahead"),
        change.alias("change"),
    )
    return named.pivot("ahead", index=["metric", "part"], values="change")


def _text(column: str, shown: str) -> pl.Expr:
    return pl.col(column).map_elements(shown.format, return_dtype=pl.String)


def _lines(table: pl.DataFrame) -> Iterable[str]:
    yield f"| {' | '.join(table.columns)} |"
    yield "|---" * table.width + "|"
    for row in table.iter_rows():
        yield f"| {' | '.join('' if value is None else str(value) for value in row)} |"
