"""`dgd reproduce`: the paper's tables, ours beside its own, and the accuracy arena."""

import json
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from dgd.cli.arena import arena
from dgd.cli.console import err, show, wrote
from dgd.files.atomic import check_target, ready_folder, write_atomically
from dgd.tables.showing import shown_number

ARENA = "arena"


def reproduce(
    name: Annotated[str, typer.Argument(help="A table, a figure, arena, or all.")],
    data: Annotated[
        Path | None, typer.Option(envvar="DGD_DATA", help="Folder that holds the data sets.")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="File for the rows.")] = None,
    results: Annotated[Path | None, typer.Option(help="Markdown page to write.")] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Folder for figures, .html, .png and .svg.")
    ] = None,
) -> None:
    """Compute the paper's tables on the data at hand and print them beside its figures.

    Tables: data-windows, history-selection, retail-behavior-counts, behavior-nll,
    behavior-response, ablation-representation, ablation-dynamics, dynamics-recovery,
    choice-recovery, numerical.
    Figures: daily-forecasts, method-figure. "all" makes everything and, without --results,
    writes docs/results.md. --json keeps, beside the rows, every seed's own score and what
    every model was made with.

    "arena" is not of the paper and not in "all": the library, the library with one part
    taken away, and its opponents on every window that the data allow. --results puts it
    behind the paper's tables of a page, in the place of an earlier one.

    Example: dgd reproduce retail-behavior-counts --data data --json rows.json
    """
    if name == ARENA:
        arena(data, json_file, results)
        return
    from dgd.paper.figures import FIGURES
    from dgd.paper.tables import TABLES
    from dgd.paper.tables import reproduce as compute
    from dgd.report.charts.files import save_charts

    everything = name == "all"
    drawn = list(FIGURES) if everything else [name] if name in FIGURES else []
    names = list(TABLES) if everything else [] if drawn else [name]
    if everything and results is None:
        results = Path("docs/results.md")
    for target in (json_file, results):
        if target is not None:
            check_target(target)
    folder = ready_folder(figures or Path("figures")) if drawn else None
    tables, scored = compute(names, data, err.print)
    for title, table in tables.items():
        show(title, table.drop("scores"), most=400)
    if folder is not None:
        wrote(*save_charts({figure: FIGURES[figure](scored) for figure in drawn}, folder))
    if json_file is not None:
        whole = [
            {"table": title, "rows": table.to_dicts(), "made_with": scored.made_with.of(table)}
            for title, table in tables.items()
        ]
        content = whole[0] if len(whole) == 1 else whole
        write_atomically(json_file.absolute(), json.dumps(content, indent=1).encode())
        wrote(json_file)
    if results is not None:
        before = results.read_text("utf-8") if everything and results.is_file() else ""
        write_atomically(results.absolute(), _page(tables, everything, before).encode())
        wrote(results)


def _page(tables: dict[str, pl.DataFrame], everything: bool, before: str) -> str:
    """The page of results; sections of other commands that stood on it `before` stay."""
    from dgd.arena.sections import with_others_of
    from dgd.paper.notes import CLAIMS, HEAD, NOTES

    parts = ["# The paper's tables, computed here", "", HEAD]
    if everything:
        parts += ["", CLAIMS]
    for title, table in tables.items():
        parts += ["", f"## {title}"]
        if title in NOTES:
            parts += ["", NOTES[title]]
        parts += ["", "| model | window | metric | ours | sd | paper |"]
        parts.append("|---|---|---|---|---|---|")
        for row in table.iter_rows(named=True):
            found = [row[column] for column in ("mean", "sd", "paper")]
            shown = ["" if value is None else shown_number(value) for value in found]
            cells = [row["model"], row["window"], row["metric"], *shown]
            parts.append(f"| {' | '.join(cells)} |")
    return with_others_of(before, "\n".join(parts))
