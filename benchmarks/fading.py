"""How fast should past origins fade in what ranges rest on? Measured where nothing is scored.

    python benchmarks/fading.py --data DIR --json FILE
    python benchmarks/fading.py --worlds 80 --json FILE

With --data the rehearsals (`rehearsals.py`) are forecast by what counts alone expect, for on real
tables that is nearly the forecast, and every simple opponent draws beside it. With --worlds
simulated worlds are fitted that are not among those of `coverage.py --simulated`. Each fit shows
its ranges with every half-life in turn; that of `forecasting/calibration.py` was chosen so.
"""

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from coverage import EPOCHS, LEVELS, OURS, PATHS, drawn_world, every_row
from dgd.arena.contest import HORIZONS
from dgd.arena.contestants import SIMPLE
from dgd.estimator import DGD
from dgd.files.atomic import check_target, write_atomically
from dgd.fit import Fit
from dgd.forecasting import calibration
from dgd.forecasting.protocol import Fitted
from dgd.scoring.range_scores import score_ranges
from rehearsals import rehearsals

HALF_LIVES = (math.inf, 56.0, 28.0, 14.0)
FIRST_WORLD = 2000
"""Numbers of worlds that nothing else is measured on begin here."""


def of_world(number: int) -> list[dict[str, Any]]:
    """A simulated world whose parameters the fit does not know."""
    panel, ends = drawn_world(FIRST_WORLD + number)
    fit = DGD(epochs=EPOCHS).fit(panel, **ends, seeds=[1])
    return list(faded(f"world {number}", fit))


def of_rehearsals(folder: Path, part: int, parts: int) -> list[dict[str, Any]]:
    """Every so many-th rehearsal: what counts alone expect, and the simple opponents."""
    rows: list[dict[str, Any]] = []
    for number, one in enumerate(rehearsals(folder, print)):
        if number % parts != part:
            continue
        panel, split = one.panel, one.split
        ends = {
            "warmup_end": panel.dates[split.first - 1],
            "train_end": panel.dates[split.train_stop - 1],
            "validation_end": panel.dates[split.validation_stop - 1],
        }
        name = f"{one.source} {number}"
        rows += faded(name, without_model(DGD(epochs=1).fit(panel, **ends, seeds=[1])))
        for opponent, make in SIMPLE.items():
            rows += ranges(name, opponent, make().fit(panel, **ends, seeds=[1]), math.inf)
        print(f"{name}: done", flush=True)
    return rows


def without_model(fit: Fit) -> Fit:
    """What counts alone expect: the model has no share in it."""
    if fit.anchor is None:
        raise ValueError("the fit has no anchor")
    return replace(fit, anchor=replace(fit.anchor, pattern_share=0.0, arrival_share=0.0))


def faded(name: str, fit: Fit) -> Iterator[dict[str, Any]]:
    """The ranges of a fit with every half-life."""
    for half_life in HALF_LIVES:
        calibration.HALF_LIFE = half_life
        yield from ranges(name, OURS, fit, half_life)


def ranges(name: str, model: str, fit: Fitted, half_life: float) -> Iterator[dict[str, Any]]:
    """Means over the series of a window, for every horizon that its test days have."""
    panel = fit.panel
    for horizon in HORIZONS:
        origins = np.arange(fit.split.validation_stop - 1, panel.days - horizon)
        if not len(origins):
            continue
        predicted = fit.predict(origins, horizon)
        table = score_ranges(panel, origins, horizon, predicted, LEVELS, PATHS)
        means = table.group_by("level", maintain_order=True).agg(pl.col("coverage", "crps").mean())
        about = {"set": name, "model": model, "half_life": half_life, "horizon": horizon}
        yield from ({**about, **row} for row in means.iter_rows(named=True))


def shown(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """What ranges cover with every half-life, windows alike, and CRPS over the best simple one."""
    ours = rows.filter(pl.col("model") == OURS)
    named = pl.format("{}%, {} ahead", pl.col("level").cast(pl.Int64), "horizon").alias("named")
    covers = (pl.col("coverage").mean() * 100).round(1)
    yield (
        ours.group_by("half_life", "level", "horizon", maintain_order=True)
        .agg(covers)
        .sort("level", "horizon", maintain_order=True)
        .with_columns(named)
        .pivot("named", index="half_life", values="coverage")
        .sort("half_life", descending=True)
    )
    keys = ["set", "horizon"]
    best = rows.filter(pl.col("model") != OURS).group_by(keys).agg(pl.col("crps").min().alias("of"))
    both = ours.filter(half_life=math.inf, level=float(LEVELS[0])).join(best, on=keys)
    ratio = (pl.col("crps") / pl.col("of")).log().mean().exp().round(3).alias("CRPS / mark")
    if both.height:
        yield both.group_by("horizon", maintain_order=True).agg(ratio, pl.len().alias("windows"))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--data", type=Path)
    asked.add_argument("--worlds", type=int, default=0)
    asked.add_argument("--processes", type=int, default=2)
    asked.add_argument("--json", type=Path)
    given = asked.parse_args()
    if given.json is not None:
        check_target(given.json)
    if given.worlds:
        jobs = [partial(of_world, number) for number in range(given.worlds)]
    elif given.data is not None:
        parts = given.processes
        jobs = [partial(of_rehearsals, given.data, part, parts) for part in range(parts)]
    else:
        asked.error("give --data DIR or --worlds N")
    rows = pl.DataFrame(list(every_row(jobs, given.processes)))
    with pl.Config(tbl_rows=100, tbl_cols=20, tbl_width_chars=180, tbl_hide_dataframe_shape=True):
        for table in shown(rows):
            print(table)
    if given.json is not None:
        write_atomically(given.json.absolute(), json.dumps(rows.to_dicts(), indent=1).encode())


if __name__ == "__main__":
    main()
