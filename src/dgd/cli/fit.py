"""`dgd fit`: a table of counts in, a model file out."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.console import check_target, out, print_json, show, training_progress
from dgd.cli.inputs import chosen_model, read_panel, whole_numbers


def fit(
    counts: Annotated[Path, typer.Argument(help="Counts table, .csv or .parquet.")],
    behaviors: Annotated[str, typer.Option(help="Behaviour columns, separated by commas.")],
    train_end: Annotated[str, typer.Option(help="Last training date.")],
    validation_end: Annotated[str, typer.Option(help="Last validation date.")],
    output: Annotated[Path, typer.Option(help="Model file to write.")] = Path("model.dgd"),
    warmup_end: Annotated[str | None, typer.Option(help="Last warm-up date.")] = None,
    date: Annotated[str, typer.Option(help="Date column.")] = "date",
    unit: Annotated[str, typer.Option(help="Unit column, or none.")] = "unit",
    cohort: Annotated[str, typer.Option(help="Cohort column, or none.")] = "cohort",
    count: Annotated[str, typer.Option(help="Count column.")] = "count",
    context: Annotated[str, typer.Option(help="Context columns of events.")] = "",
    sizes: Annotated[Path | None, typer.Option(help="Reference sizes.")] = None,
    effort: Annotated[Path | None, typer.Option(help="Effort per date.")] = None,
    features: Annotated[Path | None, typer.Option(help="Further known features.")] = None,
    period: Annotated[str, typer.Option(help="hour, day or week.")] = "day",
    preset: Annotated[str, typer.Option(help="default or paper.")] = "default",
    components: Annotated[int, typer.Option(help="Response types per cohort.")] = 2,
    nodes: Annotated[int, typer.Option(help="Quadrature nodes per type.")] = 7,
    epochs: Annotated[int | None, typer.Option(help="Most epochs to train.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting, like population=discrete.")
    ] = None,
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas.")] = "1,2,3",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON summary.")] = False,
) -> None:
    """Fit the model to a table of counts and write it to a file.

    Example: dgd fit world/counts.csv --behaviors click,like,share --sizes world/sizes.csv
    --effort world/effort.csv --train-end 2022-03-06 --validation-end 2022-03-20
    """
    from dgd.split import Split

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
