"""`dgd simulate`: a world with known truth, as tables."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.console import out, print_json, wrote
from dgd.errors import InputError
from dgd.files.atomic import ready_folder
from dgd.tables.files import write_table


def simulate(
    output: Annotated[Path, typer.Option(help="Folder for the tables; made where missing.")],
    days: Annotated[int, typer.Option(help="Days to draw.")] = 90,
    seed: Annotated[int, typer.Option(help="The same seed draws the same counts.")] = 1,
    arrivals: Annotated[float, typer.Option(help="About so many arrivals a cell and day.")] = 40.0,
    suffix: Annotated[str, typer.Option("--format", help="csv or parquet.")] = "csv",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON summary.")] = False,
) -> None:
    """Draw counts from a crowd whose parameters are known.

    Writes counts, sizes, effort and truth (joint probabilities behind the counts).

    Example: dgd simulate --days 90 --output world
    """
    import polars as pl

    import dgd

    if suffix not in ("csv", "parquet"):
        raise InputError(f'format "{suffix}" is not known; choose csv or parquet.')
    drawn = dgd.simulate(dgd.example_world(arrivals=arrivals), days, seed)
    ready_folder(output)
    panel = drawn.panel
    effort = pl.DataFrame(
        [panel.period.series("date", panel.dates), pl.Series("effort", panel.effort[:, 0, 0])]
    )
    tables = {
        "counts": panel.to_frame("polars"),
        "sizes": drawn.sizes_to_frame(),
        "effort": effort,
        "truth": drawn.truth_to_frame(),
    }
    files = {name: output / f"{name}.{suffix}" for name in tables}
    for name, table in tables.items():
        write_table(table, files[name])
    if as_json:
        facts = {"files": {k: str(v) for k, v in files.items()}, "days": days, "seed": seed}
        print_json({**facts, "arrivals": int(panel.arrivals.sum()), "behaviors": panel.behaviors})
    else:
        out.print(f"{panel}")
        wrote(*files.values())
