"""How cost grows with the number of units: counting, reading, an epoch, a fit, all forecasts.

    python benchmarks/scale.py --units 1000 10000 100000 --json scale.json

A made-up platform of that many units, 9 cohorts, 7 behaviours and 30 days, about 0.3 arrivals a
cell and day, goes from event files to forecasts of every unit. Every stage is a process of its own,
and its peak memory is what the system says of it; that of two processes is the sum of both. Modes
are `exact` (every step sees all units), `stochastic` (random blocks) and `two processes` (exact,
units spread over two). An epoch is a look at every unit once, without compiling. Fits have one seed
and one start; exact ones, which take hours on many units, are made up to `--exact-fits` units,
those of two processes up to `--spread-fits`, and exact epochs up to `--exact-epochs`. A fit's
training is also told by itself, without anchors and saving, and, where an exact fit was made too,
its validation objective of all units.
Counting and reading are the same for both modes of one process, and measured once.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from platform_events import Platform

PARTITIONS = 16
HORIZON = 7
TRAIN, VALIDATION, WARMUP = 21, 26, 2
"""Day numbers of the last days of each range."""
ONE_PROCESS = ("exact", "stochastic")
TWO = "two processes"
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--exact-fits", type=int, default=1000)
    parser.add_argument("--spread-fits", type=int, default=1000)
    parser.add_argument("--exact-epochs", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--folder", type=Path, help="where events and models go; kept if named")
    parser.add_argument("--stage", help=argparse.SUPPRESS)
    parser.add_argument("--mode", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stage:
        warnings.simplefilter("ignore")
        STAGES[given.stage](given.units[0], given.mode, given.folder)
        return
    with tempfile.TemporaryDirectory() as scratch:
        rows = measured(given, given.folder or Path(scratch))
    show(rows)
    compare(rows)


def measured(given: argparse.Namespace, folder: Path) -> list[Row]:
    """Every stage of every mode and size, one after another."""
    rows: list[Row] = []

    def keep(units: int, modes: tuple[str, ...], stage: str) -> None:
        found = run(stage, units, modes[0], folder / str(units))
        for mode in modes:
            rows.append({"units": units, "mode": mode, "stage": stage, **found})
            print(json.dumps(rows[-1]), flush=True)
        if given.json is not None:
            given.json.write_text(json.dumps(rows, indent=1))

    for units in given.units:
        Platform(units).write(folder / str(units) / "events")
        keep(units, (*ONE_PROCESS, TWO), "count")
        keep(units, ONE_PROCESS, "read")
        keep(units, (TWO,), "read")
        fitted = ["stochastic"]
        fitted += ["exact"] if units <= given.exact_fits else []
        fitted += [TWO] if units <= given.spread_fits else []
        for mode in ("stochastic", *(("exact", TWO) if units <= given.exact_epochs else ())):
            keep(units, (mode,), "epoch")
        for mode in fitted:
            keep(units, (mode,), "fit")
            keep(units, (mode,), "forecast")
            if "exact" in fitted:
                keep(units, (mode,), "validate")
    return rows


def run(stage: str, units: int, mode: str, folder: Path) -> Row:
    """Seconds of a stage's work, the peak memory of its process, in MB, and what else it told."""
    own = [sys.executable, __file__, "--units", str(units), "--stage", stage, "--mode", mode]
    command = [*own, "--folder", str(folder)]
    if mode == TWO and stage in ("read", "epoch", "fit"):
        from dgd.processes import launch

        ended = launch(command, 2)
        if ended.code:
            raise SystemExit(f"{mode}, {stage}: {ended.sentence}")
        told = [json.loads((folder / f"told-{index}.json").read_text()) for index in range(2)]
        slower = max(told, key=lambda one: one["seconds"])
        return {**slower, "peak_mb": sum(one["peak_mb"] for one in told)}
    started = subprocess.Popen(command)
    _, status, usage = os.wait4(started.pid, 0)
    if status:
        raise SystemExit(f"{mode}, {stage}: a process ended with status {status}")
    alone: Row = json.loads((folder / "told-0.json").read_text())
    return {**alone, "peak_mb": usage.ru_maxrss / 1000}


def tell(folder: Path, seconds: float, index: int = 0, **more: float) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    told = {"seconds": round(seconds, 2), "peak_mb": peak, **more}
    (folder / f"told-{index}.json").write_text(json.dumps(told))


def count(units: int, _mode: str, folder: Path) -> None:
    """From event files to a data set."""
    import dgd

    platform, began = Platform(units), time.perf_counter()
    dgd.count_events(
        pl.scan_parquet(folder / "events" / "*.parquet"),
        dgd.Clock("time", timezone="UTC", stored_in="UTC"),
        behaviors=platform.names,
        unit="unit",
        cohort="cohort",
        end=str(np.datetime64("2024-01-01") + platform.days - 1),
        to=folder / "set",
        partitions=PARTITIONS,
    )
    tell(folder, time.perf_counter() - began)


def read(_units: int, mode: str, folder: Path) -> None:
    """From the data set to a panel."""
    with group_of(mode) as group:
        began = time.perf_counter()
        panel_of(folder, group)
        tell(folder, time.perf_counter() - began, group.index)


def fit(_units: int, mode: str, folder: Path) -> None:
    """From the panel to a saved fit, compiling included."""
    with group_of(mode) as group:
        panel = panel_of(folder, group)
        began = time.perf_counter()
        bare = model_of(mode, anchor="none", arrival_anchor="none")
        trained = bare.fit(panel, **ends(panel), seeds=[1], progress=False, group=group)
        training = time.perf_counter() - began
        fitted = model_of(mode).reanchored(trained)
        if group.count == 1:
            fitted.save(folder / f"{mode}.dgd")
        else:
            from dgd.large.shards import save_shards

            save_shards(fitted, folder / f"{mode}.dgd")
        seconds = time.perf_counter() - began
        tell(folder, seconds, group.index, training=round(training, 2))
        if group.leads:
            print(fitted.summary("polars").to_dicts())


def forecast(_units: int, mode: str, folder: Path) -> None:
    """From the saved fit to forecasts of every unit, seven days ahead."""
    import dgd

    began = time.perf_counter()
    dgd.load(folder / f"{mode}.dgd").forecast_to(folder / f"{mode} forecasts", HORIZON)
    tell(folder, time.perf_counter() - began)


def validate(_units: int, mode: str, folder: Path) -> None:
    """The validation objective of all units, of the saved fit."""
    import dgd
    from dgd.learning.large_panels import LargePanel
    from dgd.runtime import computing

    fitted: Any = dgd.load(folder / f"{mode}.dgd")
    began = time.perf_counter()
    large = LargePanel(fitted.settings, fitted.panel, fitted.split, fitted.features)
    with computing():
        found = large.exact_training.validated(fitted.crowds[0])
    tell(folder, time.perf_counter() - began, objective=found)


def epoch(_units: int, mode: str, folder: Path) -> None:
    """One look at every unit, compiled before."""
    from dgd.learning.large_panels import LargePanel
    from dgd.learning.preparing import prepared
    from dgd.panel.shared import known_to_all
    from dgd.runtime import computing

    with group_of(mode) as group:
        panel = known_to_all(panel_of(folder, group), group)
        model, last = model_of(mode, epochs=40 if mode == "stochastic" else 1), ends(panel)
        panel, split, maker = prepared(
            panel, model, last["train_end"], last["validation_end"], last["warmup_end"], group
        )
        with computing():
            large = LargePanel(model, panel, split, maker, group)
            seconds = stochastic_pass(large) if mode == "stochastic" else exact_epoch(large)
        tell(folder, seconds, group.index)


def exact_epoch(large: Any) -> float:
    """The time of one epoch, after another one; what is compiled is compiled before both."""
    from dgd.learning import loop

    loop.EPOCHS_PER_CHUNK = 1
    told: list[float] = []
    large.runs([1], lambda *_: told.append(time.perf_counter()), False, None)
    return told[-1] - told[-2]


def stochastic_pass(large: Any) -> float:
    """The time of as many steps as there are blocks, looks at validation included."""
    training, told = large.stochastic_training, []

    def hear(_seed: int, steps: int, _best: float) -> None:
        told.append((steps, time.perf_counter()))

    training.run(large.first("training", 1), 1, "training", hear, threading.Event(), None)
    (first, began), (last, ended) = told[0], told[-1]
    return float((ended - began) / (last - first) * training.blocks.units / training.blocks.length)


def group_of(mode: str) -> Any:
    from contextlib import nullcontext

    from dgd.processes import ALONE, joined

    return joined() if mode == TWO else nullcontext(ALONE)


def panel_of(folder: Path, group: Any) -> Any:
    import dgd

    shard = None if group.count == 1 else (group.index, group.count)
    return dgd.Panel.from_parquet(folder / "set", shard=shard)


def model_of(mode: str, **changes: Any) -> Any:
    import dgd

    training = "stochastic" if mode == "stochastic" else "exact"
    return dgd.DGD(training=training, start="training", **changes)


def ends(panel: Any) -> dict[str, Any]:
    days = (TRAIN, VALIDATION, WARMUP)
    names = ("train_end", "validation_end", "warmup_end")
    return {name: panel.dates[day] for name, day in zip(names, days, strict=True)}


STAGES: dict[str, Callable[[int, str, Path], None]] = {
    "count": count,
    "read": read,
    "epoch": epoch,
    "fit": fit,
    "forecast": forecast,
    "validate": validate,
}


def show(rows: list[Row]) -> None:
    """The figures, and the straight line through each stage of each mode."""
    table = Table("mode", "stage", "units", "seconds", "peak MB", "seconds of 1,000 more units")
    for mode in (*ONE_PROCESS, TWO):
        for stage in STAGES:
            own = [row for row in rows if (row["mode"], row["stage"]) == (mode, stage)]
            slope = ""
            if len({row["units"] for row in own}) > 1:
                x, y = (
                    np.array([float(row[name]) for row in own]) for name in ("units", "seconds")
                )
                slope = f"{1000 * np.polyfit(x, y, 1)[0]:.2f}"
            for row in own:
                last = slope if row is own[-1] else ""
                figures = (f"{row['units']:,}", f"{row['seconds']:.1f}", f"{row['peak_mb']:,.0f}")
                table.add_row(mode, stage, *figures, last)
    Console().print(table)


def compare(rows: list[Row]) -> None:
    """Random blocks beside exact training: how much of its time, and how far from its end."""
    found = {(row["units"], row["mode"], row["stage"]): row for row in rows}
    table = Table("units", "mode", "seconds of training", "of exact", "objective", "from exact")
    for units, mode, stage in found:
        exact = found.get((units, "exact", "validate"))
        if stage != "validate" or exact is None:
            continue
        seconds, whole = (found[units, m, "fit"]["training"] for m in (mode, "exact"))
        reached = found[units, mode, "validate"]["objective"]
        figures = (f"{seconds:.1f}", f"{seconds / whole:.3f}")
        ends = (f"{reached:.5f}", f"{reached - exact['objective']:+.5f}")
        table.add_row(f"{units:,}", mode, *figures, *ends)
    if table.row_count:
        Console().print(table)


if __name__ == "__main__":
    main()
