"""`dgd forecast`: a model file in, expected counts and their ranges out."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.console import out, print_json, show, wrote
from dgd.cli.options import TableFile
from dgd.cli.values import names, whole_numbers
from dgd.errors import InputError
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
    levels: Annotated[str, typer.Option(help="Intervals in per cent, like 80,95.")] = "",
    by: Annotated[
        str, typer.Option(help="Totals by date, unit, cohort, behavior, separated by commas.")
    ] = "",
    paths: Annotated[int, typer.Option(help="Futures drawn for intervals.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    patterns: Annotated[bool, typer.Option(help="Joint patterns instead of totals.")] = False,
    output: TableFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """Forecast the days after a date, from newer counts where they are given.

    With --counts the forecast starts from days that were counted since the fit: states and
    anchor move, nothing is trained. The table has the columns that the fit was made with. With
    --levels every number has its range, and --json says what each range rests on.

    Example: dgd forecast model.dgd --horizon 7 --levels 80,95 --by date,behavior
    """
    from dgd.fit import Fit
    from dgd.storage import load_kind

    wanted, kept = whole_numbers(levels, "levels"), names(by)
    if patterns and (levels or kept):
        raise InputError("patterns have no levels and no totals; leave out levels and by.")
    if output is not None:
        check_table_target(output, [model, counts, effort, features])
    fit = load_kind(model, Fit)
    efforts, marks = read_optional(effort), read_optional(features)
    if counts is not None:
        known = {"effort": efforts, "features": marks}
        fit = fit.update(fit.panel.read_alike(read_table(counts), start=start, **known))
        efforts = marks = None
    ahead = fit.forecast(
        horizon,
        origin=origin,
        effort=efforts,
        features=marks,
        levels=wanted,
        paths=paths if wanted else None,
        seed=seed,
    )
    table = ahead.table(kept, patterns=patterns)
    if output is not None:
        write_table(table, output)
    if as_json:
        print_json(ahead.payload(kept, patterns=patterns))
    elif output is None:
        show(f"Expected counts after {ahead.origin}", table, most=60)
        for sentence in ahead.promised(kept):
            out.print(sentence, soft_wrap=True)
    else:
        out.print(f"{ahead}")
        wrote(output)
