"""`dgd forecast`: a model file in, expected counts and their ranges out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dgd.cli.console import out, print_json, say, show, wrote
from dgd.cli.options import AheadOptions, ChartFolder, DrawSeed, Levels
from dgd.cli.values import known_labels, names, whole_numbers
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
    units: Annotated[str, typer.Option(help="Some units alone, separated by commas.")] = "",
    output: Annotated[
        Path | None,
        typer.Option(help="File to write, .csv or .parquet; without an ending, a folder."),
    ] = None,
    partitions: Annotated[int | None, typer.Option(help="Parts of the folder.")] = None,
    charts: ChartFolder = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """Forecast the days after a date, from newer counts where they are given.

    With --counts the forecast starts from days that were counted since the fit: states and
    innovations move, nothing is trained. The table has the columns that the fit was made with;
    units that it shows for the first time begin as typical ones of their cohorts. With
    --levels every number has its range, and --json says what each range rests on. An --output
    without an ending is a folder: a data set of Parquet files with every unit, however many.

    Example: dgd forecast model.dgd --horizon 7 --levels 80,95 --by date,behavior
    """
    from dgd.forecasting.asked import Asked

    wanted, kept = whole_numbers(levels, "levels"), names(by)
    if patterns and (levels or kept):
        raise InputError("--patterns have no levels and no totals; leave out --levels and --by.")
    if output is not None and not output.suffix:
        if patterns or kept or units or charts is not None:
            raise InputError(
                f'output "{output}" is a folder, which holds every unit by itself; leave out --by, '
                "--units, --patterns and --charts, or name a .csv or .parquet file."
            )
        fit, known = asked.read()
        facts = fit.forecast_to(output, horizon, **known, levels=wanted, partitions=partitions)
        _tell_of_parts(facts, output, as_json)
        return
    if partitions is not None:
        raise InputError(
            f"partitions is {partitions}, but no folder is written; name one with --output, "
            "without an ending."
        )
    asked.check_output(output)
    folder = None if charts is None else ready_folder(charts)
    fit, known = asked.read()
    Asked.of(fit.panel, kept)  # refused before anything is drawn
    ahead = fit.forecast(
        horizon,
        **known,
        levels=wanted,
        paths=paths if wanted else None,
        seed=seed,
        units=known_labels(fit.panel.units, names(units)) if units else None,
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


def _tell_of_parts(facts: dict[str, Any], folder: Path, as_json: bool) -> None:
    if as_json:
        print_json(facts)
        return
    out.print(
        f"{facts['units']:,} units from {facts['first']} to {facts['last']}, "
        f"{facts['rows']:,} rows in {facts['partitions']:,} parts"
    )
    wrote(folder)


def _drawn(ahead: "Forecast", folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from dgd.report.charts.files import save_charts
    from dgd.report.charts.forecast import forecast_chart

    return save_charts({"forecast": forecast_chart(ahead)}, folder)
