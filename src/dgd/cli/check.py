"""`dgd check`: can the numbers of a model be trusted?"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from dgd.cli.console import out, print_json, show, wrote
from dgd.cli.options import AsJson, ChartFolder
from dgd.errors import ModelFileError
from dgd.files.atomic import ready_folder

if TYPE_CHECKING:
    from dgd.choice.fit import ChoiceFit
    from dgd.diagnostics.checkup import Checkup
    from dgd.diagnostics.choice_checkup import ChoiceCheckup
    from dgd.fit import Fit


def check(
    model: Annotated[Path, typer.Argument(help="Model file written by dgd fit or dgd choice fit.")],
    charts: ChartFolder = None,
    full: Annotated[bool, typer.Option("--full", help="Every table, seed by seed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a model's quadrature, error bounds, readouts and identifiability.

    Nothing is fitted again. The test days are looked at, or the validation days where
    the panel ends with them. Of a model of demand: columns and prices, quadrature,
    elasticities, types against no types, starts, instruments and scatter.

    Example: dgd check model.dgd --charts charts
    """
    from dgd.choice.fit import ChoiceFit
    from dgd.fit import Fit
    from dgd.storage import load

    folder = None if charts is None else ready_folder(charts)
    fit = load(model)
    if isinstance(fit, Fit):
        _check_crowd(fit, folder, full, as_json)
    elif isinstance(fit, ChoiceFit):
        _check_demand(fit, folder, full, as_json)
    else:
        raise ModelFileError(
            f'"{model}" holds a {fit.holds}, and this needs a fit or a choice fit; name another '
            "file."
        )


def _check_crowd(fit: "Fit", folder: Path | None, full: bool, as_json: bool) -> None:
    from dgd.diagnostics.checkup import PEOPLE, WORST
    from dgd.diagnostics.checkup import check as examine

    found = examine(fit)
    files = []
    if folder is not None:
        from dgd.report.charts.checks import check_chart
        from dgd.report.charts.files import save_charts
        from dgd.report.charts.population import density_chart

        files = save_charts({"checks": check_chart(found), "people": density_chart(fit)}, folder)
    first = found.tables[PEOPLE].filter(pl.col("seed") == fit.seeds[0]).drop("seed")
    short = {WORST: found.summary(), f"{PEOPLE}, seed {fit.seeds[0]}": first}
    _tell(found, found.tables if full else short, 200 if full else 40, files, as_json)


def _check_demand(fit: "ChoiceFit", folder: Path | None, full: bool, as_json: bool) -> None:
    from dgd.diagnostics.choice_checkup import CHECKS, check_choice

    found = check_choice(fit)
    files = []
    if folder is not None:
        from dgd.report.charts.elasticities import elasticity_chart
        from dgd.report.charts.files import save_charts
        from dgd.report.charts.price_sensitivity import sensitivity_chart

        files = save_charts(
            {"elasticities": elasticity_chart(fit), "sensitivity": sensitivity_chart(fit)}, folder
        )
    short = {CHECKS: found.summary()}
    _tell(found, {**short, **found.tables} if full else short, 200, files, as_json)


def _tell(
    found: "Checkup | ChoiceCheckup",
    tables: Mapping[str, pl.DataFrame],
    most: int,
    files: list[str],
    as_json: bool,
) -> None:
    """Everything as JSON, or `tables`, `most` rows of each, warnings and verdict for a person."""
    if as_json:
        print_json({**found.payload(), "charts": files})
        return
    for title, table in tables.items():
        show(title, table, most=most)
    if found.warnings.height:
        show("Read with care", found.warnings)
    out.print(found.verdict)
    wrote(*files)
