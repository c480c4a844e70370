"""`dgd fit-many`: a table of many panels in, a folder of model files out."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.commands import DIVERGED, SOME_FAILED
from dgd.cli.console import err, print_json, show, training_bars, warnings_in_a_line, wrote
from dgd.cli.many_tables import panels_by_name
from dgd.cli.options import AsJson, ModelOptions, PanelOptions, RangeOptions
from dgd.cli.shell_words import said


def fit_many(
    table: PanelOptions,
    ranges: RangeOptions,
    model: ModelOptions,
    by: Annotated[str | None, typer.Option(help="Column that names each row's panel.")] = None,
    output: Annotated[Path, typer.Option(help="Folder for the model files.")] = Path("models"),
    processes: Annotated[
        int | None, typer.Option(help="Fits at once; one for each core by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Fit one model for each country, shop or campaign.

    COUNTS is a table with a column --by that names the panel of each row, or a folder with one
    table for each panel. Sizes, effort and features are those of all panels, or have the
    column too. Every panel gets a model file in the folder --output; what is there already and
    unchanged is not fitted again. A panel that fails does not stop the others.

    Example: dgd fit-many sales.csv --by country --behaviors click,like,share
    --train-end 2022-03-06 --validation-end 2022-03-20 --output models
    """
    from dgd.many.fitting_many import fit_many as fitted_many

    panels = panels_by_name(table, by)
    chosen, seeds = model.chosen(), model.chosen_seeds()
    with training_bars(quiet=as_json) as board, warnings_in_a_line():
        found = fitted_many(
            panels,
            chosen,
            train_end=ranges.train_end,
            validation_end=ranges.validation_end,
            warmup_end=ranges.warmup_end,
            seeds=seeds,
            folder=output,
            processes=processes,
            progress=board,
        )
    if as_json:
        print_json(found.payload())
    else:
        show("Panels", found.to_frame("polars").drop("file", "failure"))
        for name, failure in found.failures.items():
            err.print(f"dgd: panel {name}: {said(failure)}", soft_wrap=True)
        if len(found):
            wrote(output)
    if found.failures:
        raise typer.Exit(SOME_FAILED)
    if any(one.diverged for one in found.outcomes):
        raise typer.Exit(DIVERGED)
