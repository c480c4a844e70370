"""`dgd forecast`: a model file in, expected counts out."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.console import check_target, out, print_json, read_table, show, write_table


def forecast(
    model: Annotated[Path, typer.Argument(help="Model file written by dgd fit.")],
    horizon: Annotated[int, typer.Option(help="Days ahead.")] = 7,
    origin: Annotated[str | None, typer.Option(help="Last date whose counts are used.")] = None,
    effort: Annotated[Path | None, typer.Option(help="Effort for the days ahead.")] = None,
    features: Annotated[Path | None, typer.Option(help="Features for the days ahead.")] = None,
    patterns: Annotated[bool, typer.Option(help="Joint patterns instead of totals.")] = False,
    output: Annotated[Path | None, typer.Option(help="File to write, .csv or .parquet.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """Forecast the days after a date.

    Example: dgd forecast model.dgd --horizon 7 --output forecast.csv
    """
    import dgd

    if output is not None:
        check_target(output)
    ahead = dgd.load(model).forecast(
        horizon,
        origin=origin,
        effort=None if effort is None else read_table(effort),
        features=None if features is None else read_table(features),
    )
    table = ahead.patterns_to_frame("polars") if patterns else ahead.to_frame("polars")
    if output is not None:
        write_table(table, output)
    if as_json:
        print_json({"origin": str(ahead.origin), "rows": table.to_dicts()})
    elif output is None:
        show(f"Expected counts after {ahead.origin}", table, most=60)
    else:
        out.print(f"{ahead}\nwrote {output}")
