"""`dgd fit`: a table of counts in, a model file out."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.console import check_target, out, print_json, show, training_progress
from dgd.cli.inputs import chosen_model, read_panel, whole_numbers
from dgd.cli.options import (
    Behaviors,
    CohortColumn,
    Components,
    ContextColumns,
    CountColumn,
    CountsFile,
    DateColumn,
    EffortFile,
    Epochs,
    FeaturesFile,
    MoreSettings,
    Nodes,
    PeriodName,
    Preset,
    Seeds,
    SizesFile,
    TrainEnd,
    UnitColumn,
    ValidationEnd,
    WarmupEnd,
)


def fit(
    counts: CountsFile,
    behaviors: Behaviors,
    train_end: TrainEnd,
    validation_end: ValidationEnd,
    output: Annotated[Path, typer.Option(help="Model file to write.")] = Path("model.dgd"),
    warmup_end: WarmupEnd = None,
    date: DateColumn = "date",
    unit: UnitColumn = "unit",
    cohort: CohortColumn = "cohort",
    count: CountColumn = "count",
    context: ContextColumns = "",
    sizes: SizesFile = None,
    effort: EffortFile = None,
    features: FeaturesFile = None,
    period: PeriodName = "day",
    preset: Preset = "default",
    components: Components = 2,
    nodes: Nodes = 7,
    epochs: Epochs = None,
    settings: MoreSettings = None,
    seeds: Seeds = "1,2,3",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON summary.")] = False,
) -> None:
    """Fit the model to a table of counts and write it to a file.

    Example: dgd fit world/counts.csv --behaviors click,like,share --sizes world/sizes.csv
    --effort world/effort.csv --train-end 2022-03-06 --validation-end 2022-03-20
    """
    from dgd.panel.split import Split

    check_target(output)
    panel = read_panel(
        counts,
        behaviors=behaviors,
        date=date,
        unit=unit,
        cohort=cohort,
        count=count,
        context=context,
        sizes=sizes,
        effort=effort,
        features=features,
        period=period,
    )
    model = chosen_model(preset, components, nodes, epochs, settings or [])
    chosen = whole_numbers(seeds, "seeds")
    Split.of(panel, train_end, validation_end, warmup_end)
    with training_progress(chosen, model.epochs, quiet=as_json) as tell:
        fitted = model.fit(
            panel,
            train_end=train_end,
            validation_end=validation_end,
            warmup_end=warmup_end,
            seeds=chosen,
            progress=tell,
        )
    fitted.save(output)
    summary = fitted.summary("polars")
    if as_json:
        print_json({"model": str(output), "seeds": summary.to_dicts()})
    else:
        out.print(f"{panel}")
        show("Training", summary)
        out.print(f"wrote {output}")
    if fitted.diverged:
        raise typer.Exit(3)
