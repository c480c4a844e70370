"""`dgd forecast`: a model file in, expected counts out."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.console import out, print_json, show, wrote
from dgd.cli.options import TableFile
from dgd.tables.files import check_table_target, read_optional, read_table, write_table


def forecast(
    model: Annotated[Path, typer.Argument(help="Model file written by dgd fit.")],
    horizon: Annotated[int, typer.Option(help="Days ahead.")] = 7,
    counts: Annotated[Path | None, typer.Option(help="Counts of the days since the fit.")] = None,
    start: Annotated[
        str | None, typer.Option(help="First new date, where nothing arrived on it.")
    ] = None,
    origin: Annotated[str | None, typer.Option(help="Last date whose counts are used.")] = None,
    effort: Annotated[Path | None, typer.Option(help="Effort of new days and days ahead.")] = None,
    features: Annotated[Path | None, typer.Option(help="Features, likewise.")] = None,
    patterns: Annotated[bool, typer.Option(help="Joint patterns instead of totals.")] = False,
    output: TableFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """Forecast the days after a date, from newer counts where they are given.

    With --counts the forecast starts from days that were counted since the fit: states and
    anchor move, nothing is trained. The table has the columns that the fit was made with.

    Example: dgd forecast model.dgd --horizon 7 --output forecast.csv
    """
    from dgd.fit import Fit
    from dgd.storage import load_kind

    if output is not None:
        check_table_target(output, [model, counts, effort, features])
    fit, later = load_kind(model, Fit), {}
    known = {"effort": read_optional(effort), "features": read_optional(features)}
    if counts is None:
        later = known
    else:
        fit = fit.update(fit.panel.read_alike(read_table(counts), start=start, **known))
    ahead = fit.forecast(horizon, origin=origin, **later)
    table = ahead.patterns_to_frame("polars") if patterns else ahead.to_frame("polars")
    if output is not None:
        write_table(table, output)
    if as_json:
        print_json(ahead.payload(patterns))
    elif output is None:
        show(f"Expected counts after {ahead.origin}", table, most=60)
    else:
        out.print(f"{ahead}")
        wrote(output)
