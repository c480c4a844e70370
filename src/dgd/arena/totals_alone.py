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
    panel: Panel, split: Split, horizons: Sequence[int]
) -> Iterator[tuple[str, int, str, float]]:
    """(model, horizon, metric, score) on the test days, from the origins of a backtest."""
    series = daily_series(panel)
    origins = np.arange(split.validation_stop - 1, panel.days - min(horizons))
    found = _forecasts(series, origins, max(horizons))
    for name, ahead in zip(NAMES, found, strict=True):
        for horizon in horizons:
            scored = origins[origins + horizon < panel.days]
            errors = np.abs(ahead[: len(scored), horizon - 1] - series[scored + horizon])
            yield name, horizon, "behavior_count_mae", float(errors[:, :-1].mean())
            yield name, horizon, "arrival_mae", float(errors[:, -1].mean())


def _forecasts(
    series: Totals, origins: Int[np.ndarray, " origin"], steps: int
) -> Float[np.ndarray, "model origin step series"]:
    """Every series from every origin by every model; the fits share the processors."""
    columns = range(series.shape[1])
    histories = [series[: origin + 1, k] for origin in origins for k in columns]
    names = [name for name in NAMES for _ in histories]
    # A worker that is only forked would share the threads that JAX has already started.
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        found = list(pool.map(partial(refitted, steps), names, histories * len(NAMES), chunksize=4))
    return np.reshape(found, (len(NAMES), len(origins), len(columns), steps)).swapaxes(2, 3)


def refitted(
    steps: int, name: str, history: Float[np.ndarray, " day"]
) -> Float[np.ndarray, " step"]:
    """One model fitted to one series, and its forecast."""
    from statsforecast import models

    model = getattr(models, name)(season_length=WEEK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # candidates that do not converge are its own affair
        mean = model.forecast(y=history, h=steps)["mean"]
    return np.maximum(np.asarray(mean, dtype=np.float64), 0.0)
