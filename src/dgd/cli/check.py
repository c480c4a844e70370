"""`dgd check`: can the numbers of a model be trusted?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from dgd.cli.console import out, print_json, show, wrote
from dgd.cli.options import AsJson, ChartFolder
from dgd.files.atomic import ready_folder

if TYPE_CHECKING:
    from dgd.diagnostics.checkup import Checkup
    from dgd.fit import Fit


def check(
    model: Annotated[Path, typer.Argument(help="Model file written by dgd fit.")],
    charts: ChartFolder = None,
    full: Annotated[bool, typer.Option("--full", help="Every table, seed by seed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a model's quadrature, error bounds, readouts and identifiability.

    Nothing is fitted again. The test days are looked at, or the validation days where
    the panel ends with them.

    Example: dgd check model.dgd --charts charts
    """
    from dgd.diagnostics.checkup import PEOPLE, WORST
    from dgd.diagnostics.checkup import check as examine
    from dgd.fit import Fit
    from dgd.storage import load_kind

    folder = None if charts is None else ready_folder(charts)
    fit = load_kind(model, Fit)
    found = examine(fit)
    files = _drawn(fit, found, folder)
    if as_json:
        print_json({**found.payload(), "charts": files})
        return
    if full:
        for title, table in found.tables.items():
            show(title, table, most=200)
    else:
        show(WORST, found.summary())
        first = found.tables[PEOPLE].filter(pl.col("seed") == fit.seeds[0]).drop("seed")
        show(f"{PEOPLE}, seed {fit.seeds[0]}", first, most=40)
    if found.warnings.height:
        show("Read with care", found.warnings)
    out.print(found.verdict)
    wrote(*files)


def _drawn(fit: "Fit", found: "Checkup", folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from dgd.report.charts.checks import check_chart
    from dgd.report.charts.files import save_charts
    from dgd.report.charts.population import density_chart

    return save_charts({"checks": check_chart(found), "people": density_chart(fit)}, folder)
