"""How errors grow with the horizon, up to four weeks, beside the simple opponents.

    python benchmarks/horizons.py --data DIR --json FILE

Windows of the shop, the flights and the hotels of the arena, moved through the years that their
tables cover so that 34 days follow the validation days. From every origin of the first week the
days up to 28 ahead are forecast, so that each horizon is scored from the same seven origins. Some
of these days are test days of the arena: nothing is chosen here. Figures are geometric means over
windows of the error over that of the weekday history one day ahead of the same window (of the
joint NLL the mean difference), so that a row shows growth and opponents alike. Beside the defaults
stands the model without innovations, which follows the counts by its feedback alone.
"""

import argparse
import json
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from dgd.arena.contestants import SIMPLE
from dgd.arena.windows import FIRST_SHEET
from dgd.datasets import Dataset, flights, hotels, online_retail
from dgd.datasets.windows import Window
from dgd.estimator import DGD
from dgd.forecasting.protocol import Fitted
from dgd.scoring.behavior_scores import behavior_count_mae, joint_nll
from dgd.scoring.count_scores import arrival_mae

HORIZONS = (1, 3, 7, 14, 21, 28)
ORIGINS = 7
TEST = ORIGINS + max(HORIZONS) - 1
LENGTHS = (28, 70, 14, TEST)
OURS, ALONE, MARK = "dgd", "dgd without innovations", "weekday history"


def windows(folder: Path) -> dict[str, Callable[[], Dataset]]:
    """Loaders by name."""
    arena = folder / "arena"
    sources: dict[str, tuple[Callable[[Window], Dataset], date, date, int]] = {
        "Retail": (
            partial(online_retail, folder / FIRST_SHEET),
            date(2009, 12, 18),
            date(2010, 12, 8),
            35,
        ),
        "Flights": (partial(flights, arena), date(2013, 1, 1), date(2013, 12, 31), 35),
        "Hotels": (partial(hotels, arena), date(2015, 7, 1), date(2017, 8, 31), 56),
    }
    found: dict[str, Callable[[], Dataset]] = {}
    for source, (load, start, last, every) in sources.items():
        while start + timedelta(days=sum(LENGTHS) - 1) <= last:
            window = Window.of_days(start, *LENGTHS, name=f"{source} from {start}")
            found[window.name] = partial(load, window)
            start += timedelta(days=every)  # noqa: PLW2901
    return found


def rows_of(name: str, dataset: Dataset) -> list[dict[str, Any]]:
    window, panel = dataset.window, dataset.panel
    ends: dict[str, Any] = {
        "warmup_end": window.warmup_end,
        "train_end": window.train_end,
        "validation_end": window.validation_end,
    }
    fit = DGD().fit(panel, **ends, seeds=[1])
    alone = DGD(innovations="none").fit(panel, **ends, seeds=[1])
    models: dict[str, Fitted] = {OURS: fit, ALONE: alone}
    models |= {simple: make().fit(panel, **ends) for simple, make in SIMPLE.items()}
    first = fit.split.validation_stop - 1
    origins = np.arange(first, first + ORIGINS)
    rows = []
    for model, fitted in models.items():
        predicted = fitted.predict(origins, max(HORIZONS)).averaged()
        for horizon in HORIZONS:
            counts = panel.patterns[origins + horizon].astype(np.float64)
            arrivals = predicted.arrivals[0, horizon - 1]
            patterns = predicted.patterns[0, horizon - 1]
            scores = {
                "joint NLL": joint_nll(counts, patterns),
                "behaviour counts": behavior_count_mae(counts, arrivals, patterns),
                "arrivals": arrival_mae(counts.sum(-1), arrivals),
            }
            for metric, score in scores.items():
                row = {"set": name, "model": model, "horizon": horizon}
                rows.append({**row, "metric": metric, "score": score})
    return rows


def grown(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per metric and model, a column for every horizon."""
    mark = rows.filter(model=MARK, horizon=1).select("set", "metric", pl.col("score").alias("mark"))
    beside = rows.join(mark, on=["set", "metric"])
    ratio = (pl.col("score") / pl.col("mark")).log().mean().exp()
    difference = (pl.col("score") - pl.col("mark")).mean()
    plain = pl.col("metric").first() == "joint NLL"
    return (
        beside.group_by("metric", "model", "horizon", maintain_order=True)
        .agg(pl.when(plain).then(difference).otherwise(ratio).round(4).alias("figure"))
        .pivot("horizon", index=["metric", "model"], values="figure")
    )


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--data", type=Path, required=True)
    asked.add_argument("--json", type=Path)
    asked.add_argument("--every", type=int, default=1, help="only every so manieth window")
    given = asked.parse_args()
    rows: list[dict[str, Any]] = []
    for name, load in list(windows(given.data).items())[:: given.every]:
        rows += rows_of(name, load())
        print(f"{name}: done", flush=True)
    with pl.Config(tbl_rows=100, tbl_width_chars=140, tbl_hide_dataframe_shape=True):
        print(grown(pl.DataFrame(rows)))
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
