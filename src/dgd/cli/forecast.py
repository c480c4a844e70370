"""`dgd forecast`: a model file in, expected counts out."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.console import out, print_json, show, wrote
from dgd.cli.options import TableFile
from dgd.tables.files import check_table_target, read_optional, write_table


def forecast(
    model: Annotated[Path, typer.Argument(help="Model file written by dgd fit.")],
    horizon: Annotated[int, typer.Option(help="Days ahead.")] = 7,
    origin: Annotated[str | None, typer.Option(help="Last date whose counts are used.")] = None,
    effort: Annotated[Path | None, typer.Option(help="Effort for the days ahead.")] = None,
    features: Annotated[Path | None, typer.Option(help="Features for the days ahead.")] = None,
    patterns: Annotated[bool, typer.Option(help="Joint patterns instead of totals.")] = False,
    output: TableFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """Forecast the days after a date.

    Example: dgd forecast model.dgd --horizon 7 --output forecast.csv
    """
    from dgd.fit import Fit
    from dgd.storage import load_kind

    if output is not None:
        check_table_target(output, [model, effort, features])
    ahead = load_kind(model, Fit).forecast(
        horizon, origin=origin, effort=read_optional(effort), features=read_optional(features)
    )
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
