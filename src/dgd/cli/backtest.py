"""`dgd backtest`: a table of counts in, every model's scores and who won out."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dgd.cli.commands import DIVERGED
from dgd.cli.console import out, print_json, say, show, training_bars, warnings_in_a_line, wrote
from dgd.cli.options import AsJson, ChartFolder, ModelOptions, PanelOptions, RangeOptions
from dgd.cli.values import names, whole_numbers
from dgd.errors import InputError
from dgd.files.atomic import ready_folder
from dgd.tables.files import check_table_target, write_table

if TYPE_CHECKING:
    from dgd.forecasting.protocol import Forecaster
    from dgd.scoring.backtesting import Backtest

NEURAL = "deepar-joint, gru-full, gru-restricted"
MODELS = "dgd,training-history,last-day,smoothed-history,slow-history,weekday-history"


def backtest(
    table: PanelOptions,
    ranges: RangeOptions,
    model: ModelOptions,
    horizons: Annotated[str, typer.Option(help="Days ahead, separated by commas.")] = "1,3,7",
    models: Annotated[str, typer.Option(help=f"Models; also {NEURAL}.")] = MODELS,
    test_start: Annotated[str | None, typer.Option(help="First date to score.")] = None,
    levels: Annotated[str, typer.Option(help="Ranges to score, in per cent.")] = "80,95",
    paths: Annotated[int, typer.Option(help="Futures drawn per origin; 0 for no ranges.")] = 400,
    output: Annotated[Path | None, typer.Option(help="Scores to write, .csv or .parquet.")] = None,
    daily: Annotated[Path | None, typer.Option(help="Daily totals to write.")] = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Score the model and its opponents on the days after the validation date, and say who won.

    Example: dgd backtest world/counts.csv --behaviors click,like,share --sizes world/sizes.csv
    --effort world/effort.csv --train-end 2022-03-06 --validation-end 2022-03-20 --horizons 1,3
    """
    from dgd.forecasting.calibration import checked_levels
    from dgd.scoring.backtesting import backtest as run

    written = [path for path in (output, daily) if path is not None]
    for number, path in enumerate(written):
        check_table_target(path, [*table.files, *written[:number]])
    folder = None if charts is None else ready_folder(charts)
    chosen = model.chosen()
    forecasters = _chosen(models, chosen)
    ahead, seeds = whole_numbers(horizons, "horizons"), model.chosen_seeds()
    wanted = checked_levels(whole_numbers(levels, "levels"))
    panel = table.read()
    ends = ranges.ends(panel)
    with training_bars(quiet=as_json) as bars, warnings_in_a_line():
        result = run(
            panel,
            forecasters,
            horizons=ahead,
            **ends,
            seeds=seeds,
            test_start=test_start,
            levels=wanted,
            paths=paths,
            progress=bars,
        )
    scores, totals = result.to_frame("polars"), result.daily("polars")
    for found, target in ((scores, output), (totals, daily)):
        if target is not None:
            write_table(found, target)
    files = _drawn(result, folder)
    if as_json:
        print_json({**result.payload(), "charts": files})
    else:
        _print(result)
        say(result.verdict())
        wrote(*written, *files)
    if "dgd" in result.diverged:
        raise typer.Exit(DIVERGED)


def _drawn(result: "Backtest", folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from dgd.report.charts.backtest import backtest_chart
    from dgd.report.charts.files import save_charts

    return save_charts({"backtest": backtest_chart(result)}, folder)


def _chosen(models: str, model: "Forecaster") -> Mapping[str, "Forecaster"]:
    from dgd import baselines

    known: dict[str, Forecaster] = {
        "dgd": model,
        "training-history": baselines.TrainingHistory(),
        "last-day": baselines.LastDayHistory(),
        "smoothed-history": baselines.SmoothedHistory(),
        "slow-history": baselines.SlowHistory(),
        "weekday-history": baselines.WeekdayHistory(),
        "deepar-joint": baselines.DeepAR(),
        "gru-full": baselines.GRU(projection="full"),
        "gru-restricted": baselines.GRU(projection="restricted"),
    }
    for name in names(models):
        if name not in known:
            raise InputError(f'model "{name}" is not known; choose among {", ".join(known)}.')
    return {name: known[name] for name in names(models)}


def _print(result: "Backtest") -> None:
    """Every table of the result, a horizon at a time."""
    out.print(f"{result.panel}")
    for title, table in result.shown().items():
        what, _, remark = title.partition(", ")
        for (horizon,), part in table.group_by("horizon", maintain_order=True):
            said = [f"{what}, {horizon} ahead"]
            if "origins" in part.columns:
                said.append(f"{part['origins'][0]} origins")
            said += [remark] if remark else []
            show(", ".join(said), part.drop("horizon", "origins", strict=False))
