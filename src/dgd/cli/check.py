"""`dgd check`: can the numbers of a model be trusted?"""

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from dgd.cli.console import out, print_json, show, wrote
from dgd.cli.options import AsJson
from dgd.files.atomic import ready_folder


def check(
    model: Annotated[Path, typer.Argument(help="Model file written by dgd fit.")],
    charts: Annotated[
        Path | None, typer.Option(help="Folder for the chart of people there and seen.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Every table, seed by seed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a model's quadrature, error bounds, readouts and identifiability.

    Nothing is fitted again. The test days are looked at, or the validation days where
    the panel ends with them.

    Example: dgd check model.dgd --charts charts
    """
    from dgd.diagnostics.checkup import PEOPLE
    from dgd.diagnostics.checkup import check as examine
    from dgd.fit import Fit
    from dgd.report.charts.files import save_chart
    from dgd.report.charts.population import density_chart
    from dgd.storage import load_kind

    fit = load_kind(model, Fit)
    folder = None if charts is None else ready_folder(charts)
    found = examine(fit)
    if as_json:
        print_json(found.payload())
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
        out.print(found.verdict)
    if folder is not None:
        for file in (folder / "people.html", folder / "people.png"):
            save_chart(density_chart(fit), file)
            if not as_json:
                wrote(file)
