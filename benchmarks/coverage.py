"""Do ranges of daily totals cover what they promise, and how good are whole distributions?

    python benchmarks/coverage.py --data DIR --json FILE --results docs/results.md
    python benchmarks/coverage.py --simulated 200 --json FILE

With --data every window of the arena is fitted on its training and validation days and its test
days are drawn from rolling origins, one, three and seven days ahead: dgd with the ranges it
promises, and every opponent that can draw counts with the central ranges of its paths. A row is
the mean over the day's totals of arrivals and of every behaviour.

With --simulated as many worlds are drawn, each with parameters of its own that the fit does not
know and met on another day of its four weeks' plan of effort, and the same is asked of the days
after each fit. (All met on the same day would have no campaign on any test day, and ranges that
hold campaigns and calm weeks alike would be judged by calm weeks alone: --same-day shows that.)
--processes runs several at a time.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from dgd.arena.contest import HORIZONS, SEEDS
from dgd.arena.contestants import SIMPLE, TRAINED
from dgd.arena.sections import with_section
from dgd.arena.windows import LOADERS, windows_in
from dgd.datasets import Dataset
from dgd.estimator import DGD
from dgd.files.atomic import check_target, write_atomically
from dgd.forecasting.protocol import Forecaster
from dgd.panel.panel import Panel
from dgd.scoring.backtesting import backtest
from dgd.simulation.draw import simulate
from dgd.simulation.example import example_world

LEVELS = (50, 80, 95)
PATHS = 400
OURS = "dgd"
TITLE = "## Ranges of daily totals"
TRAIN, VALIDATION, TEST = 70, 14, 21
"""Days of a simulated world."""
PLAN = 28
"""Days after which a world's plan of effort begins anew."""
EPOCHS = 200
"""Of the fit to one; the objective hardly moves after that."""

HEAD = f"""\
{TITLE}

Written by `python benchmarks/coverage.py --data DIR --results docs/results.md`. Every window of the
arena, test days from rolling origins, {PATHS} paths; the series are the day's totals of arrivals
and of every behaviour. Coverage is the per cent of days, of all series and windows, where a model
gives the range at all. dgd shows the ranges it promises, calibrated at past origins that end before
the test days; the others the central ranges of what they draw. CRPS is the geometric mean over
windows of the ratio to the best of five simple opponents on that window, picked with hindsight."""


def rows_of(name: str, result: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows of one window: means over the series."""
    keys = ["model", "horizon", "level"]
    table = result.group_by(keys, maintain_order=True).agg(
        pl.col("coverage", "width", "crps", "energy").mean(), pl.col("origins").first()
    )
    return table.select(pl.lit(name).alias("set"), pl.all()).to_dicts()


def of_window(name: str, folder: Path, neural: bool) -> list[dict[str, Any]]:
    """dgd and every opponent that draws, on one window of the arena."""
    found: list[dict[str, Any]] = []
    for window, dataset in windows_in(folder, [name], print):
        found += rows_of(window, _scored(dataset, neural))
        print(f"{window}: done", flush=True)
    return found


def _scored(dataset: Dataset, neural: bool) -> pl.DataFrame:
    window, panel = dataset.window, dataset.panel
    models: dict[str, Forecaster] = {OURS: DGD(), **{n: make() for n, make in SIMPLE.items()}}
    if neural:
        models["DeepAR-joint"] = TRAINED["DeepAR-joint"]()
    test = panel.days - 1 - panel.index(window.validation_end, "validation_end")
    result = backtest(
        panel,
        models,
        horizons=[horizon for horizon in HORIZONS if horizon <= test],
        warmup_end=window.warmup_end,
        train_end=window.train_end,
        validation_end=window.validation_end,
        seeds=SEEDS,
        levels=LEVELS,
        paths=PATHS,
    )
    table: pl.DataFrame = result.ranges("polars")
    return table


def of_world(number: int, same_day: bool) -> list[dict[str, Any]]:
    """dgd on one drawn world whose parameters it does not know."""
    panel, ends = drawn_world(number, same_day)
    result = backtest(
        panel,
        {OURS: DGD(epochs=EPOCHS)},
        horizons=HORIZONS,
        **ends,
        seeds=[1],
        levels=LEVELS,
        paths=PATHS,
    )
    return rows_of(f"world {number}", result.ranges("polars"))


def drawn_world(number: int, same_day: bool = False) -> tuple[Panel, dict[str, Any]]:
    """A world of that number, met on a day of its own, and where training and validation end."""
    world = example_world(seed=1000 + number)
    days = TRAIN + VALIDATION + TEST
    into_plan = 0 if same_day else int(np.random.default_rng(number).integers(PLAN))
    effort = world.effort(into_plan + days)[into_plan:]
    panel = simulate(world, days, seed=number, effort=effort).panel
    ends = {
        "train_end": panel.dates[TRAIN - 1],
        "validation_end": panel.dates[TRAIN + VALIDATION - 1],
    }
    return panel, ends


def standing(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per model and horizon: coverage of every level, and CRPS over the mark."""
    marks = (
        rows.filter(pl.col("model").is_in(list(SIMPLE)))
        .group_by("set", "horizon")
        .agg(pl.col("crps").min().alias("mark"), pl.col("energy").min().alias("energy_mark"))
    )
    own = rows.join(marks, on=["set", "horizon"], how="left")
    covered = (
        rows.group_by("model", "horizon", "level", maintain_order=True)
        .agg(_covered().alias("coverage"))
        .pivot("level", index=["model", "horizon"], values="coverage")
    )
    names = {f"{float(level)}": f"{level}% covers" for level in LEVELS}
    ratio = (
        own.filter(level=float(LEVELS[0]))
        .group_by("model", "horizon", maintain_order=True)
        .agg(
            _ratio("crps", "mark").alias("CRPS / mark"),
            _ratio("energy", "energy_mark").alias("energy / mark"),
            pl.len().alias("windows"),
            pl.col("origins").sum(),
        )
    )
    return covered.rename(names).join(
        ratio, on=["model", "horizon"], how="left", maintain_order="left"
    )


def _covered() -> pl.Expr:
    """Per cent of all days whose range was given: every day counts alike, wherever it is from."""
    given = pl.col("coverage").is_not_null()
    held = (pl.col("coverage") * pl.col("origins")).sum()
    return (100 * held / pl.col("origins").filter(given).sum()).round(1)


def _ratio(score: str, mark: str) -> pl.Expr:
    return (pl.col(score) / pl.col(mark)).log().mean().exp().round(3)


def page(rows: pl.DataFrame) -> str:
    """The section of docs/results.md."""
    table = standing(rows).sort("horizon", maintain_order=True)
    lines = [f"| {' | '.join(table.columns)} |", "|---" * table.width + "|"]
    lines += [f"| {' | '.join('' if v is None else str(v) for v in row)} |" for row in table.rows()]
    return "\n\n".join([HEAD, "\n".join(lines)]) + "\n"


def every_row(jobs: Sequence[partial[list[dict[str, Any]]]], processes: int) -> Iterator[Any]:
    """Rows of all jobs, in their order."""
    if processes == 1:
        for number, job in enumerate(jobs, 1):
            yield from job()
            _tell(number, len(jobs))
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for number, found in enumerate([pool.submit(job) for job in jobs], 1):
            yield from found.result()
            _tell(number, len(jobs))


def _tell(number: int, jobs: int) -> None:
    if number % 10 == 0:
        print(f"{number} of {jobs}", flush=True)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--data", type=Path)
    asked.add_argument("--windows", nargs="*", default=list(LOADERS))
    asked.add_argument("--simulated", type=int, default=0)
    asked.add_argument("--same-day", action="store_true", help="meet all worlds on one day")
    asked.add_argument("--simple", action="store_true", help="leave DeepAR-joint out")
    asked.add_argument("--processes", type=int, default=2)
    asked.add_argument("--json", type=Path)
    asked.add_argument("--results", type=Path)
    given = asked.parse_args()
    for target in (given.json, given.results):
        if target is not None:
            check_target(target)
    if given.simulated:
        jobs = [partial(of_world, number, given.same_day) for number in range(given.simulated)]
    elif given.data is not None:
        names = given.windows
        jobs = [partial(of_window, name, given.data, not given.simple) for name in names]
    else:
        asked.error("give --data DIR or --simulated N")
    rows = pl.DataFrame(list(every_row(jobs, given.processes)))
    with pl.Config(tbl_rows=100, tbl_cols=20, tbl_width_chars=140, tbl_hide_dataframe_shape=True):
        print(standing(rows))
    if given.json is not None:
        write_atomically(given.json.absolute(), json.dumps(rows.to_dicts(), indent=1).encode())
    if given.results is not None:
        text = given.results.read_text("utf-8") if given.results.is_file() else ""
        write_atomically(given.results.absolute(), with_section(text, page(rows)).encode())


if __name__ == "__main__":
    main()
