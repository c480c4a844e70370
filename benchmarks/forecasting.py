"""Time and memory of drawn forecasts, against horizon, paths and cells, beside GluonTS DeepAR.

    python benchmarks/forecasting.py --json FILE [--data DIR]

A Retail-shaped fit (the real one with --data, else a simulated one of the same size: one unit,
four cohorts, three behaviours) forecasts with ranges; larger ones show what cells cost. Every row
is measured in a process of its own, so that its peak of memory is its own: the model is loaded,
one short forecast compiles, then the forecast is timed. GluonTS DeepAR, where it is installed,
draws as many paths of the same series (arrivals and behaviours of every cell) from a network
that was hardly trained, since only drawing is timed; its warm-up is one draw of the same length.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

HORIZONS = (7, 28, 90, 365)
PATHS = (200, 2000)
MOST_PATHS = max(PATHS)
CELLS = ((1, 4), (5, 9), (20, 9))
"""Units and cohorts."""
LEVELS = (80, 95)
DAYS = 100


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--data", type=Path)
    asked.add_argument("--json", type=Path)
    asked.add_argument("--quick", action="store_true", help="short horizons and few paths only")
    asked.add_argument("--measure", help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.measure:
        print(json.dumps(measured(**json.loads(given.measure))))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(Path(folder), given.data, given.quick):
            rows.append(in_a_process(case))
            print(shown(rows[-1]), flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")


def cases(folder: Path, data: Path | None, quick: bool) -> Iterator[dict[str, Any]]:
    """What is measured, one after another; models are fitted as they are needed."""
    horizons, paths = (HORIZONS[:2], PATHS[:1]) if quick else (HORIZONS, PATHS)
    model = folder / "retail.dgd"
    fitted(model, *CELLS[0], data)
    sizes = [(horizon, paths[-1]) for horizon in horizons]
    sizes += [(horizons[-1], few) for few in paths[:-1]]
    for horizon, drawn in sizes:
        yield {"model": "dgd", "file": str(model), "horizon": horizon, "paths": drawn}
        if find_spec("gluonts") is not None:
            yield {
                "model": "GluonTS DeepAR",
                "file": str(model),
                "horizon": horizon,
                "paths": drawn,
            }
    for units, cohorts in () if quick else CELLS[1:]:
        model = folder / f"{units} x {cohorts}.dgd"
        fitted(model, units, cohorts, None)
        yield {"model": "dgd", "file": str(model), "horizon": horizons[1], "paths": paths[0]}


def fitted(file: Path, units: int, cohorts: int, data: Path | None) -> None:
    """Write a fit of that many cells; hardly trained, for parameters do not change the cost."""
    import dgd

    few = dgd.DGD(epochs=20)
    if data is not None:
        dataset = dgd.datasets.online_retail(data, 2010)
        window = dataset.window
        ends: dict[str, Any] = {
            "warmup_end": window.warmup_end,
            "train_end": window.train_end,
            "validation_end": window.validation_end,
        }
        few.fit(dataset.panel, **ends).save(file)
        return
    world = dgd.example_world(
        units=[f"unit {n}" for n in range(units)],
        cohorts=[f"cohort {n}" for n in range(cohorts)],
        feedback=False,
    )
    panel = dgd.simulate(world, DAYS, seed=1).panel
    ends = {"train_end": panel.dates[-15], "validation_end": panel.dates[-1]}
    few.fit(panel, **ends).save(file)


def in_a_process(case: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", json.dumps(case)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{case} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(model: str, file: str, horizon: int, paths: int) -> dict[str, Any]:
    """One row; peak_mb is the most that this process has held, libraries included."""
    draw = drawn_by_dgd if model == "dgd" else drawn_by_deepar
    cells, seconds = draw(Path(file), horizon, paths)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "model": model,
        "cells": cells,
        "horizon": horizon,
        "paths": paths,
        "seconds": round(seconds, 3),
        "peak_mb": round(peak),
    }


def drawn_by_dgd(file: Path, horizon: int, paths: int) -> tuple[int, float]:
    import dgd

    fit = dgd.load(file)
    fit.forecast(1, levels=LEVELS, paths=paths)
    fit.past(horizon)  # what intervals rest on is drawn once for all forecasts of a fit
    begin = time.perf_counter()
    fit.forecast(horizon, levels=LEVELS, paths=paths).to_frame("polars")
    return len(fit.panel.units) * len(fit.panel.cohorts), time.perf_counter() - begin


def drawn_by_deepar(file: Path, horizon: int, paths: int) -> tuple[int, float]:
    import pandas as pd
    from gluonts.dataset.common import ListDataset
    from gluonts.torch import DeepAREstimator
    from gluonts.torch.distributions import NegativeBinomialOutput

    import dgd

    panel = dgd.load(file).panel
    counts = np.concatenate([panel.arrivals[..., None], panel.behavior_counts], -1)
    series: Sequence[np.ndarray] = list(counts.reshape(panel.days, -1).T.astype(np.float64))
    start = pd.Period(str(panel.dates[0]), freq="D")
    data = ListDataset([{"start": start, "target": one} for one in series], freq="D")
    with tempfile.TemporaryDirectory() as folder:
        estimator = DeepAREstimator(
            freq="D",
            prediction_length=horizon,
            context_length=14,
            num_layers=1,
            hidden_size=40,
            distr_output=NegativeBinomialOutput(),
            lags_seq=[*range(1, 8), 14],
            num_parallel_samples=paths,
            num_batches_per_epoch=2,
            trainer_kwargs={
                "max_epochs": 1,
                "accelerator": "cpu",
                "logger": False,
                "enable_progress_bar": False,
                "enable_model_summary": False,
                "default_root_dir": folder,
            },
        )
        long = [{"start": start, "target": np.tile(one, 8)} for one in series]
        predictor = estimator.train(ListDataset(long, freq="D"))
    list(predictor.predict(data))
    begin = time.perf_counter()
    ends = [0.5 + side * level / 200 for level in LEVELS for side in (-1, 1)]
    for forecast in predictor.predict(data):
        _ = [forecast.quantile(end) for end in ends]
    return len(panel.units) * len(panel.cohorts), time.perf_counter() - begin


def shown(row: dict[str, Any]) -> str:
    return (
        f"{row['model']:15} {row['cells']:4} cells {row['horizon']:4} days {row['paths']:5} paths "
        f"{row['seconds']:8.2f} s {row['peak_mb']:6} MB"
    )


if __name__ == "__main__":
    main()
