"""`dgd fit`: a table of counts in, a model file out."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.commands import DIVERGED
from dgd.cli.console import out, print_json, show, training_progress, warnings_in_a_line, wrote
from dgd.cli.options import AsJson, ModelOptions, PanelOptions, RangeOptions
from dgd.files.atomic import check_target


def fit(
    table: PanelOptions,
    ranges: RangeOptions,
    model: ModelOptions,
    output: Annotated[Path, typer.Option(help="Model file to write.")] = Path("model.dgd"),
    as_json: AsJson = False,
) -> None:
    """Fit the model to a table of counts and write it to a file.

    Example: dgd fit world/counts.csv --behaviors click,like,share --sizes world/sizes.csv
    --effort world/effort.csv --train-end 2022-03-06 --validation-end 2022-03-20
    """
    check_target(output, table.files)
    panel = table.read()
    chosen, seeds = model.chosen(), model.chosen_seeds()
    ends = ranges.ends(panel)
    with training_progress(seeds, chosen.epochs, quiet=as_json) as tell, warnings_in_a_line():
        fitted = chosen.fit(panel, **ends, seeds=seeds, progress=tell)
    fitted.save(output)
    summary = fitted.summary("polars")
    if as_json:
        print_json({"model": str(output), "seeds": summary.to_dicts()})
    else:
        out.print(f"{panel}")
        show("Training", summary)
        wrote(output)
    if fitted.diverged:
        raise typer.Exit(DIVERGED)
