"""dgd beside what a user would pick instead, on daily totals.

    python benchmarks/outside.py --data DIR --json outside.json

Both Online Retail windows; the series are the daily totals of every behaviour
and of arrivals. From each test origin all models forecast the next seven days
and are scored 1, 3 and 7 days ahead by count MAE, the mean over behaviours and
days of |forecast - observed|, on the origins of `dgd.backtest`.

The opponents forecast each total as a series of its own and see no cohorts.
What can be set about them is chosen per window by the count MAE one day ahead
of the validation days; test days are only scored. Forecasts below zero count as zero.

- SeasonalNaive (StatsForecast): the same weekday of last week.
- Weekday mean (StatsForecast's SeasonalWindowAverage): the mean of the last
  k same weekdays, k from 1 to 8 chosen.
- AutoETS, AutoARIMA (StatsForecast): season_length=7, everything else as it
  comes, refitted at every origin to all days since the first training day or
  since the first warm-up day, whichever is chosen.
- DeepAR (GluonTS, PyTorch): one network for all series, told apart by a static category,
  trained once on the days through the validation end and fed the days up to each
  origin. Negative-binomial output, one layer, weekday indicators, lags 1-7 and 14, 14 days
  of context, learning rate 0.01, 10 epochs of 50 batches, median of 200 samples. Width and
  first day are chosen with networks that saw the training days only. Three seeds.

Seconds are wall time of choosing, fitting and forecasting one window, worker
processes included; for dgd also its compilation where no earlier one is cached.
"""

import argparse
import json
import logging
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float, Int

from dgd.datasets import Dataset
from dgd.estimator import DGD
from dgd.forecasting.protocol import Forecaster
from dgd.panel.split import Split
from dgd.paper.models import SEEDS, fit_on
from dgd.paper.windows import Windows

HORIZONS = (1, 3, 7)
STEPS = max(HORIZONS)
WEEK = 7
WEEKS = tuple(range(1, 9))
SINCE = ("training", "warm-up")
WIDTHS = (16, 40)
QUIET = dict.fromkeys(("logger", "enable_progress_bar", "enable_model_summary"), False)
TRAINER = {"max_epochs": 10, "accelerator": "cpu", **QUIET}
PACKAGES = ("gluonts", "torch", "lightning", "statsforecast")

Origins: TypeAlias = Int[np.ndarray, " origin"]
Forecast: TypeAlias = Float[np.ndarray, "seed origin step series"]


@dataclass(frozen=True, eq=False)
class Totals:
    """Daily totals of a window: every behaviour, then arrivals."""

    values: Float[np.ndarray, "day series"]
    dates: np.ndarray
    split: Split

    @staticmethod
    def of(dataset: Dataset) -> "Totals":
        panel, window = dataset.panel, dataset.window
        behaviors = panel.behavior_counts.sum((1, 2))
        arrivals = panel.arrivals.sum((1, 2))
        split = Split.of(panel, window.train_end, window.validation_end, window.warmup_end)
        values = np.column_stack([behaviors, arrivals]).astype(np.float64)
        return Totals(values, panel.dates, split)

    def through(self, stop: int) -> "Totals":
        """The days before day number `stop`; later ones are not there to be looked at."""
        return replace(self, values=self.values[:stop], dates=self.dates[:stop])

    def start(self, since: str) -> int:
        return {"training": self.split.first, "warm-up": 0}[since]

    @property
    def series(self) -> range:
        return range(self.values.shape[1])


Method: TypeAlias = Callable[[Executor, Totals, int, Origins], Forecast]
"""Forecasts from origins; what is trained once may use the days before the third argument."""


def refitted(
    make: Callable[[], Any], since: str, pool: Executor, totals: Totals, _: int, origins: Origins
) -> Forecast:
    """A StatsForecast model, fitted to each series anew at every origin."""
    first = totals.start(since)
    histories = [totals.values[first : o + 1, k] for o in origins for k in totals.series]
    means = list(pool.map(partial(forecast_one, make), histories))
    return np.reshape(means, (1, len(origins), -1, STEPS)).swapaxes(2, 3)


def forecast_one(make: Callable[[], Any], history: np.ndarray) -> np.ndarray:
    return np.asarray(make().forecast(y=history, h=STEPS)["mean"])


def trained_once(
    width: int, since: str, pool: Executor, totals: Totals, trained: int, origins: Origins
) -> Forecast:
    """GluonTS DeepAR, every seed trained on the days before `trained`."""
    first = totals.start(since)
    known = replace(totals, values=totals.values[first:], dates=totals.dates[first:])
    work = partial(deepar, width, known, trained - first, origins - first)
    return np.stack(list(pool.map(work, SEEDS)))


def deepar(
    width: int, totals: Totals, trained: int, origins: Origins, seed: int
) -> Float[np.ndarray, "origin step series"]:
    warnings.filterwarnings("ignore", module="lightning|gluonts|torch")
    import torch
    from gluonts.torch import DeepAREstimator
    from gluonts.torch.distributions import NegativeBinomialOutput
    from lightning.pytorch import seed_everything

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    seed_everything(seed, verbose=False)
    with tempfile.TemporaryDirectory() as folder:
        estimator = DeepAREstimator(
            freq="D",
            prediction_length=STEPS,
            context_length=2 * WEEK,
            num_layers=1,
            hidden_size=width,
            lr=0.01,
            distr_output=NegativeBinomialOutput(),
            num_feat_static_cat=1,
            cardinality=[len(totals.series)],
            lags_seq=[*range(1, WEEK + 1), 2 * WEEK],
            time_features=[partial(is_weekday, day) for day in range(WEEK)],
            num_parallel_samples=200,
            trainer_kwargs={**TRAINER, "default_root_dir": folder},
        )
        predictor = estimator.train(entries(totals, [trained]), cache_data=True)
    medians = [f.quantile(0.5) for f in predictor.predict(entries(totals, origins + 1))]
    return np.reshape(medians, (len(origins), -1, STEPS)).swapaxes(1, 2)


def is_weekday(day: int, index: Any) -> np.ndarray:
    return np.asarray(index.dayofweek == day, dtype=np.float64)


def entries(totals: Totals, stops: Sequence[int] | np.ndarray) -> Any:
    """Every series up to each of `stops`, as GluonTS reads them."""
    import pandas as pd
    from gluonts.dataset.common import ListDataset

    start = pd.Period(str(totals.dates[0]), freq="D")
    rows = [
        {"start": start, "target": totals.values[:stop, k], "feat_static_cat": [k]}
        for stop in stops
        for k in totals.series
    ]
    return ListDataset(rows, freq="D")


def learned(
    model: Forecaster, dataset: Dataset, _: Executor, __: Totals, ___: int, origins: Origins
) -> Forecast:
    """dgd itself: totals over cohorts of expected arrivals times behaviour probabilities."""
    fitted = fit_on(dataset, model)
    predicted = fitted.predict(origins, STEPS)
    counts = np.concatenate([predicted.behavior_counts, predicted.arrivals[..., None]], -1)
    return np.asarray(counts.sum((3, 4)).swapaxes(1, 2))


def ours(dataset: Dataset) -> dict[str, dict[str, Method]]:
    retention = dataset.summary_retention
    return {
        "dgd, paper preset": {
            "-": partial(learned, DGD.paper(summary_retention=retention), dataset)
        },
        "dgd, defaults": {"-": partial(learned, DGD(summary_retention=retention), dataset)},
    }


def opponents() -> dict[str, dict[str, Method]]:
    """Every outside model with the settings to choose from."""
    from statsforecast.models import AutoARIMA, AutoETS, SeasonalNaive, SeasonalWindowAverage

    naive = partial(SeasonalNaive, season_length=WEEK)
    ets, arima = partial(AutoETS, season_length=WEEK), partial(AutoARIMA, season_length=WEEK)
    mean = partial(SeasonalWindowAverage, season_length=WEEK)
    return {
        "SeasonalNaive": {"last week": partial(refitted, naive, "training")},
        "Weekday mean": {
            f"{k} weeks": partial(refitted, partial(mean, window_size=k), "training") for k in WEEKS
        },
        "AutoETS": {f"since {s}": partial(refitted, ets, s) for s in SINCE},
        "AutoARIMA": {f"since {s}": partial(refitted, arima, s) for s in SINCE},
        "GluonTS DeepAR": {
            f"width {w}, since {s}": partial(trained_once, w, s) for w in WIDTHS for s in SINCE
        },
    }


def errors(
    totals: Totals, origins: Origins, forecast: Forecast, horizon: int
) -> Float[np.ndarray, "seed origin series"]:
    """|forecast - observed| of the endpoints that are among the days of `totals`."""
    scored = origins[origins + horizon < len(totals.values)]
    ahead = np.maximum(forecast[:, : len(scored), horizon - 1], 0)
    return np.asarray(np.abs(ahead - totals.values[scored + horizon]))


def choose(
    pool: Executor, totals: Totals, candidates: Mapping[str, Method]
) -> tuple[str, dict[str, float]]:
    """The setting with the lowest count MAE one day ahead on the validation days, and all MAEs."""
    if len(candidates) == 1:
        return next(iter(candidates)), {}
    stop, trained = totals.split.validation_stop, totals.split.train_stop
    known, origins = totals.through(stop), np.arange(trained - 1, stop - 1)
    found = {}
    for setting, method in candidates.items():
        forecast = method(pool, known, trained, origins)
        found[setting] = float(errors(known, origins, forecast, 1)[..., :-1].mean())
    return min(found, key=found.__getitem__), found


def rows_of(
    window: str, totals: Totals, pool: Executor, models: Mapping[str, Mapping[str, Method]]
) -> list[dict[str, Any]]:
    """Scores on the test days of one window, seed by seed and then averaged."""
    stop = totals.split.validation_stop
    origins = np.arange(stop - 1, len(totals.values) - 1)
    rows = []
    for model, candidates in models.items():
        begin = time.perf_counter()
        chosen, validation = choose(pool, totals, candidates)
        forecast = candidates[chosen](pool, totals, stop, origins)
        seconds = time.perf_counter() - begin
        for horizon in HORIZONS:
            error = errors(totals, origins, forecast, horizon)
            by_seed = error[..., :-1].mean((1, 2))
            rows.append(
                {
                    "model": model,
                    "window": window,
                    "horizon": horizon,
                    "count_mae": float(by_seed.mean()),
                    "sd": float(by_seed.std(ddof=1)) if len(by_seed) > 1 else None,
                    "arrival_mae": float(error[..., -1].mean()),
                    "origins": error.shape[1],
                    "seconds": seconds,
                    "chosen": chosen,
                    "validation": validation,
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--json", type=Path, help="file to write the rows to")
    chosen = parser.parse_args()
    windows = Windows(chosen.data, print).retail
    if not windows:
        parser.error(f"no Online Retail II data in {chosen.data}; name its folder with --data.")
    rows = []
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for window, dataset in windows.items():
            models = {**opponents(), **ours(dataset)}
            rows += rows_of(window, Totals.of(dataset), pool, models)
    print(f"{'model':18} {'window':12} {'horizon':>7} {'count MAE':>9} {'seconds':>7}  chosen")
    for r in sorted(rows, key=lambda r: (r["window"], r["horizon"], r["count_mae"])):
        scores = f"{r['horizon']:7} {r['count_mae']:9.2f} {r['seconds']:7.1f}"
        print(f"{r['model']:18} {r['window']:12} {scores}  {r['chosen']}")
    if chosen.json is not None:
        found = {"versions": {name: version(name) for name in PACKAGES}, "rows": rows}
        chosen.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
