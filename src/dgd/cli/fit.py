"""`dgd fit`: a table of counts in, a model file out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dgd.cli.commands import DIVERGED
from dgd.cli.console import out, print_json, show, training_progress, warnings_in_a_line, wrote
from dgd.cli.options import AsJson, CheckpointOptions, ModelOptions, PanelOptions, RangeOptions
from dgd.cli.spreading import Processes, group_of
from dgd.errors import InputError
from dgd.files.atomic import check_target
from dgd.files.folders import refuse_other_folder

if TYPE_CHECKING:
    from dgd.fit import Fit
    from dgd.processes.group import Group


def fit(
    table: PanelOptions,
    ranges: RangeOptions,
    model: ModelOptions,
    keeping: CheckpointOptions,
    output: Annotated[Path, typer.Option(help="Model file to write.")] = Path("model.dgd"),
    processes: Processes = 1,
    as_json: AsJson = False,
) -> None:
    """Fit the model to a table of counts and write it to a file.

    With --processes, each reads its share of a data set (dgd count --partitions), and the model
    is a folder with a file of each.

    Example: dgd fit world/counts.csv --behaviors click,like,share --sizes world/sizes.csv
    --effort world/effort.csv --train-end 2022-03-06 --validation-end 2022-03-20
    """
    with group_of(processes) as group:
        fitted = _fitted(table, ranges, model, keeping, output, group, as_json)
        if group.leads:
            _tell(fitted, output, as_json)
    if group.leads and fitted.diverged:
        raise typer.Exit(DIVERGED)


def _fitted(
    table: PanelOptions,
    ranges: RangeOptions,
    model: ModelOptions,
    keeping: CheckpointOptions,
    output: Path,
    group: "Group",
    as_json: bool,
) -> "Fit":
    """The fit of this process's units, written."""
    alone = group.count == 1
    if alone:
        check_target(output, table.files)
    else:
        refuse_shards(table, output)
    kept = keeping.chosen(output, table.files)
    panel = table.read(None if alone else (group.index, group.count))
    chosen, seeds = model.chosen(), model.chosen_seeds()
    ends = ranges.ends(panel, group)
    quiet = as_json or not group.leads
    with training_progress(seeds, chosen.epochs, quiet=quiet) as tell, warnings_in_a_line():
        fitted = chosen.fit(panel, **ends, seeds=seeds, progress=tell, **kept, group=group)
    if alone:
        fitted.save(output)
    else:
        from dgd.large.shards import save_shards

        save_shards(fitted, output)
    keeping.remove(None if alone else group.index)
    return fitted


def _tell(fitted: "Fit", output: Path, as_json: bool) -> None:
    summary = fitted.summary("polars")
    if as_json:
        print_json({"model": str(output), "seeds": summary.to_dicts()})
        return
    out.print(f"{fitted.panel}")
    if fitted.group.count > 1:
        everyone = fitted.panel.together
        out.print(
            f"one of {fitted.group.count} shards; all have {everyone.units:,} units and "
            f"{everyone.patterns.sum():,} arrivals",
            highlight=False,
        )
    show("Training", summary)
    wrote(output)


def refuse_shards(table: PanelOptions, output: Path) -> None:
    """Refuse before any work what several processes cannot read or write."""
    from dgd.large.shards import MARK

    if not table.counts.is_dir():
        raise InputError(
            f'counts "{table.counts}" is a file, and every process reads its share of a data set; '
            "make one with dgd count --partitions, or fit with one process."
        )
    refuse_other_folder(output, MARK)
