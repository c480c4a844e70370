"""Opponents that see nothing but daily totals: StatsForecast's automatic models.

Each total, arrivals or one behaviour over all units and cohorts, is a series of its own from the
first day of the window on. At every origin the model is chosen and fitted anew to the days up to
it, with a season of one week. Forecasts below zero count as zero.
"""

import os
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context

import numpy as np
from jaxtyping import Float, Int

from dgd.panel.panel import Panel
from dgd.panel.split import Split

NAMES = ("AutoETS", "AutoTheta", "AutoARIMA")
PACKAGE = "statsforecast"
WEEK = 7

Totals = Float[np.ndarray, "day series"]
"""Every behaviour, then arrivals."""


def installed() -> bool:
    return find_spec(PACKAGE) is not None


def daily_series(panel: Panel) -> Totals:
    behaviors, arrivals = panel.behavior_counts.sum((1, 2)), panel.arrivals.sum((1, 2))
    return np.column_stack([behaviors, arrivals]).astype(np.float64)


def scores(
    name: str, panel: Panel, split: Split, horizons: Sequence[int]
) -> Iterator[tuple[int, str, float]]:
    """(horizon, metric, score) of one model on the test days, from the origins of a backtest."""
    series = daily_series(panel)
    origins = np.arange(split.validation_stop - 1, panel.days - min(horizons))
    ahead = _forecasts(name, series, origins, max(horizons))
    for horizon in horizons:
        scored = origins[origins + horizon < panel.days]
        errors = np.abs(ahead[: len(scored), horizon - 1] - series[scored + horizon])
        yield horizon, "behavior_count_mae", float(errors[:, :-1].mean())
        yield horizon, "arrival_mae", float(errors[:, -1].mean())


def _forecasts(
    name: str, series: Totals, origins: Int[np.ndarray, " origin"], steps: int
) -> Float[np.ndarray, "origin step series"]:
    """Every series from every origin; the fits are independent and share the processors."""
    columns = range(series.shape[1])
    histories = [series[: origin + 1, k] for origin in origins for k in columns]
    workers = min(os.cpu_count() or 1, len(histories))
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        found = list(pool.map(partial(refitted, name, steps), histories, chunksize=4))
    return np.reshape(found, (len(origins), len(columns), steps)).swapaxes(1, 2)


def refitted(
    name: str, steps: int, history: Float[np.ndarray, " day"]
) -> Float[np.ndarray, " step"]:
    """One model fitted to one series, and its forecast."""
    from statsforecast import models

    model = getattr(models, name)(season_length=WEEK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # candidates that do not converge are its own affair
        mean = model.forecast(y=history, h=steps)["mean"]
    return np.maximum(np.asarray(mean, dtype=np.float64), 0.0)
