"""How cost grows with the number of units: counting, reading, fitting, forecasts of every unit.

    python benchmarks/scale.py --units 1000 10000 100000 --json scale.json

A made-up platform of that many units, 9 cohorts, 7 behaviours and 30 days, about 0.3 arrivals a
cell and day, goes from event files to forecasts of every unit, in one process and in two that share
the units. Every stage is a process (or two) of its own, compiling included, and its peak memory is
what the system says of it; that of two processes is the sum of both. Fits have one seed. Counting
is the same for both modes and measured once; two processes are measured on up to `--two` units.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from platform_events import Platform

PARTITIONS = 16
HORIZON = 7
TRAIN, VALIDATION = 21, 26
"""Day numbers of the last days of each range."""
ONE, TWO = "one process", "two processes"
MODES = (ONE, TWO)
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--two", type=int, default=10_000, help="most units for two processes")
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
        show(measured(given, given.folder or Path(scratch)))


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
        modes = MODES if units <= given.two else (ONE,)
        keep(units, modes, "count")
        for mode in modes:
            for stage in ("read", "fit", "forecast"):
                keep(units, (mode,), stage)
    return rows


def run(stage: str, units: int, mode: str, folder: Path) -> Row:
    """Seconds of a stage's work, and the peak memory of its process, in MB."""
    own = [sys.executable, __file__, "--units", str(units), "--stage", stage, "--mode", mode]
    command = [*own, "--folder", str(folder)]
    if mode == TWO and stage != "count":
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


def tell(folder: Path, seconds: float, index: int = 0) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    told = {"seconds": round(seconds, 2), "peak_mb": peak}
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
    """From the panel to a saved fit."""
    import dgd
    from dgd.large.shards import save_shards

    with group_of(mode) as group:
        panel = panel_of(folder, group)
        began = time.perf_counter()
        ends = {"train_end": panel.dates[TRAIN], "validation_end": panel.dates[VALIDATION]}
        fitted = dgd.DGD().fit(panel, **ends, seeds=[1], progress=False, group=group)
        if group.count == 1:
            fitted.save(folder / f"{mode}.dgd")
        else:
            save_shards(fitted, folder / f"{mode}.dgd")
        tell(folder, time.perf_counter() - began, group.index)
        if group.leads:
            print(fitted.summary("polars").to_dicts())


def forecast(_units: int, mode: str, folder: Path) -> None:
    """From the saved fit to forecasts of every unit, seven days ahead."""
    import dgd
    from dgd.large.shards import shard_files

    with group_of(mode) as group:
        began, file = time.perf_counter(), folder / f"{mode}.dgd"
        own = file if group.count == 1 else shard_files(file)[group.index]
        fitted: Any = replace(dgd.load(own), group=group)
        fitted.forecast_to(folder / f"{mode} forecasts", HORIZON)
        tell(folder, time.perf_counter() - began, group.index)


def group_of(mode: str) -> Any:
    from dgd.processes import ALONE, joined

    return joined() if mode == TWO else nullcontext(ALONE)


def panel_of(folder: Path, group: Any) -> Any:
    import dgd

    shard = None if group.count == 1 else (group.index, group.count)
    return dgd.Panel.from_parquet(folder / "set", shard=shard)


STAGES: dict[str, Callable[[int, str, Path], None]] = {
    "count": count,
    "read": read,
    "fit": fit,
    "forecast": forecast,
}


def show(rows: list[Row]) -> None:
    """The figures, and the straight line through each stage of each mode."""
    table = Table("mode", "stage", "units", "seconds", "peak MB", "seconds of 1,000 more units")
    for mode in MODES:
        for stage in STAGES:
            own = [row for row in rows if (row["mode"], row["stage"]) == (mode, stage)]
            slope = ""
            if len({row["units"] for row in own}) > 1:
                units, seconds = ([float(row[x]) for row in own] for x in ("units", "seconds"))
                slope = f"{1000 * np.polyfit(units, seconds, 1)[0]:.2f}"
            for row in own:
                last = slope if row is own[-1] else ""
                figures = (f"{row['units']:,}", f"{row['seconds']:.1f}", f"{row['peak_mb']:,.0f}")
                table.add_row(mode, stage, *figures, last)
    Console().print(table)


if __name__ == "__main__":
    main()
