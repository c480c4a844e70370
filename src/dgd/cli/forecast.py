"""`dgd forecast`: a model file in, expected counts and their ranges out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dgd.cli.console import out, print_json, say, show, wrote
from dgd.cli.options import AheadOptions, ChartFolder, DrawSeed, Levels, TableFile
from dgd.cli.values import names, whole_numbers
from dgd.errors import InputError
from dgd.files.atomic import ready_folder
from dgd.tables.files import write_table

if TYPE_CHECKING:
    from dgd.forecasting.forecast import Forecast


def forecast(
    asked: AheadOptions,
    horizon: Annotated[int, typer.Option(help="Days ahead.")] = 7,
    levels: Levels = "",
    by: Annotated[
        str, typer.Option(help="Totals by date, unit, cohort, behavior, separated by commas.")
    ] = "",
    paths: Annotated[int, typer.Option(help="Futures drawn for intervals.")] = 2000,
    seed: DrawSeed = 0,
    patterns: Annotated[bool, typer.Option(help="Joint patterns instead of totals.")] = False,
    output: TableFile = None,
    charts: ChartFolder = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """Forecast the days after a date, from newer counts where they are given.

    With --counts the forecast starts from days that were counted since the fit: states and
    anchor move, nothing is trained. The table has the columns that the fit was made with. With
    --levels every number has its range, and --json says what each range rests on.

    Example: dgd forecast model.dgd --horizon 7 --levels 80,95 --by date,behavior
    """
    from dgd.forecasting.asked import Asked

    wanted, kept = whole_numbers(levels, "levels"), names(by)
    if patterns and (levels or kept):
        raise InputError("--patterns have no levels and no totals; leave out --levels and --by.")
    asked.check_output(output)
    folder = None if charts is None else ready_folder(charts)
    fit, known = asked.read()
    Asked.of(fit.panel, kept)  # refused before anything is drawn
    ahead = fit.forecast(
        horizon, **known, levels=wanted, paths=paths if wanted else None, seed=seed
    )
    table = ahead.table(kept, patterns=patterns)
    if output is not None:
        write_table(table, output)
    files = _drawn(ahead, folder)
    if as_json:
        print_json({**ahead.payload(kept, patterns=patterns), "charts": files})
        return
    if output is None:
        show(f"Expected counts after {ahead.origin}", table, most=60)
        say(ahead.promised(kept))
    else:
        out.print(f"{ahead}")
        wrote(output)
    wrote(*files)


def _drawn(ahead: "Forecast", folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from dgd.report.charts.files import save_charts
    from dgd.report.charts.forecast import forecast_chart

    return save_charts({"forecast": forecast_chart(ahead)}, folder)
