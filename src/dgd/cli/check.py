"""`dgd check`: can the numbers of a model be trusted?"""

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from dgd.cli.console import out, print_json, ready_folder, show


def check(
    model: Annotated[Path, typer.Argument(help="Model file written by dgd fit.")],
    charts: Annotated[
        Path | None, typer.Option(help="Folder for the chart of people there and seen.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Every table, seed by seed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Check a model's quadrature, error bounds, readouts and identifiability.

    Nothing is fitted again. The test days are looked at, or the validation days where
    the panel ends with them.

    Example: dgd check model.dgd --charts charts
    """
    import dgd
    from dgd.diagnostics import check as examine
    from dgd.diagnostics.checkup import PEOPLE
    from dgd.report import people_chart, save_chart

    fit = dgd.load(model)
    folder = None if charts is None else ready_folder(charts)
    found = examine(fit)
    if as_json:
        print_json(
            {
                "enough_nodes": found.nodes.enough,
                "verdict": found.nodes.verdict,
                "bounds_hold": found.bounds_hold,
                "summary": found.summary().to_dicts(),
                "tables": {title: table.to_dicts() for title, table in found.tables.items()},
                "warnings": found.warnings.to_dicts(),
            }
        )
    else:
        if full:
            for title, table in found.tables.items():
                show(title, table, most=200)
        else:
            show("Worst of all seeds", found.summary())
            first = found.tables[PEOPLE].filter(pl.col("seed") == fit.seeds[0]).drop("seed")
            show(f"{PEOPLE}, seed {fit.seeds[0]}", first, most=40)
        if found.warnings.height:
            show("Read with care", found.warnings)
        out.print(found.nodes.verdict)
        out.print(
            "All errors are within their bounds."
            if found.bounds_hold
            else "Some errors exceed their bounds; the tables say which."
        )
    if folder is not None:
        for file in (folder / "people.html", folder / "people.png"):
            save_chart(people_chart(fit), file)
            if not as_json:
                out.print(f"wrote {file}")
