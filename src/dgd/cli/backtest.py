"""`dgd backtest`: a table of counts in, every model's scores out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from dgd.cli.console import (
    check_target,
    out,
    print_json,
    show,
    training_progress,
    write_table,
)
from dgd.cli.inputs import chosen_model, names, read_panel, whole_numbers
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
from dgd.errors import InputError

if TYPE_CHECKING:
    from dgd.forecasting.protocol import Forecaster

NEURAL = "deepar-joint, gru-full, gru-restricted"
MODELS = "dgd,training-history,last-day,smoothed-history,weekday-history"
SHOWN = {
    "joint_nll": "joint NLL",
    "mean_brier": "Brier",
    "cohort_rate_mae": "cohort rates (pp)",
    "pair_mae": "pairs (pp)",
    "behavior_count_mae": "behaviour counts",
    "arrival_mae": "arrivals",
    "arrival_crps": "CRPS",
}
"""The scores a person sees; --json and --output give all of them."""


def backtest(
    counts: CountsFile,
    behaviors: Behaviors,
    train_end: TrainEnd,
    validation_end: ValidationEnd,
    horizons: Annotated[str, typer.Option(help="Days ahead, separated by commas.")] = "1,3,7",
    models: Annotated[str, typer.Option(help=f"Models; also {NEURAL}.")] = MODELS,
    test_start: Annotated[str | None, typer.Option(help="First date to score.")] = None,
    output: Annotated[Path | None, typer.Option(help="Scores to write, .csv or .parquet.")] = None,
    daily: Annotated[Path | None, typer.Option(help="Daily totals to write, for charts.")] = None,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Score the model and its opponents on the days after the validation date.

    Example: dgd backtest world/counts.csv --behaviors click,like,share --sizes world/sizes.csv
    --effort world/effort.csv --train-end 2022-03-06 --validation-end 2022-03-20 --horizons 1,3
    """
    import dgd
    from dgd.panel.split import Split
    from dgd.scoring.backtesting import backtest as run

    written = [path for path in (output, daily) if path is not None]
    for path in written:
        check_target(path)
        if path.suffix not in (".csv", ".parquet"):
            raise InputError(f'output "{path}" is neither .csv nor .parquet; choose one of these.')
    model = chosen_model(preset, components, nodes, epochs, settings or [])
    chosen = _chosen(models, model)
    ahead, drawn = whole_numbers(horizons, "horizons"), whole_numbers(seeds, "seeds")
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
    Split.of(panel, train_end, validation_end, warmup_end)
    silent = as_json or "dgd" not in chosen
    with training_progress(drawn, model.epochs, quiet=silent) as tell:
        result = run(
            panel,
            chosen,
            horizons=ahead,
            train_end=train_end,
            validation_end=validation_end,
            warmup_end=warmup_end,
            seeds=drawn,
            test_start=test_start,
            progress=None if tell is None else lambda _model, *told: tell(*told),
        )
    scores, totals = result.to_frame("polars"), result.daily("polars")
    for table, target in ((scores, output), (totals, daily)):
        if target is not None:
            write_table(table, target)
    if as_json:
        print_json(
            {
                "scores": scores.to_dicts(),
                "settings": result.settings,
                "daily": totals.to_dicts(),
            }
        )
    else:
        _print(panel, scores, written)
    fitted = result.fits.get("dgd")
    if isinstance(fitted, dgd.Fit) and fitted.diverged:
        raise typer.Exit(3)


def _chosen(models: str, model: "Forecaster") -> Mapping[str, "Forecaster"]:
    from dgd import baselines

    known: dict[str, Forecaster] = {
        "dgd": model,
        "training-history": baselines.TrainingHistory(),
        "last-day": baselines.LastDayHistory(),
        "smoothed-history": baselines.SmoothedHistory(),
        "weekday-history": baselines.WeekdayHistory(),
        "deepar-joint": baselines.DeepAR(),
        "gru-full": baselines.GRU(projection="full"),
        "gru-restricted": baselines.GRU(projection="restricted"),
    }
    for name in names(models):
        if name not in known:
            raise InputError(f'model "{name}" is not known; choose among {", ".join(known)}.')
    return {name: known[name] for name in names(models)}


def _print(panel: object, scores: pl.DataFrame, written: Sequence[Path]) -> None:
    out.print(f"{panel}")
    for (horizon,), part in scores.group_by("horizon", maintain_order=True):
        wide = part.filter(pl.col("metric").is_in(list(SHOWN))).pivot(
            "metric", index="model", values="mean"
        )
        columns = [pl.col(metric).alias(SHOWN[metric]) for metric in SHOWN if metric in wide]
        pairs = part["origins"][0]
        show(f"{horizon} ahead, {pairs} origins, lower is better", wide.select("model", *columns))
    for path in written:
        out.print(f"wrote {path}")
