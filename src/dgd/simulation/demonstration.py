"""The main job on a world with known truth: draw, fit, compare, forecast."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from dgd.estimator import DGD
from dgd.fit import Fit
from dgd.forecasting.forecast import average
from dgd.learning.loop import Progress
from dgd.model.patterns import behavior_bits
from dgd.simulation.draw import Simulated, example_world, simulate

TRAIN_DAYS, VALIDATION_DAYS, TEST_DAYS = 70, 14, 28
SEEDS = (1, 2, 3)


@dataclass(frozen=True, eq=False)
class Demonstration:
    """A drawn world, the model fitted to it, and the tables that compare them."""

    drawn: Simulated
    fit: Fit
    recovery: pl.DataFrame
    divergence: pl.DataFrame
    forecasts: pl.DataFrame


def demonstrate(model: DGD | None = None, progress: Progress | None = None) -> Demonstration:
    """Draw a crowd with feedback, fit it, and score what was recovered on the test days."""
    drawn = simulate(example_world(), TRAIN_DAYS + VALIDATION_DAYS + TEST_DAYS, seed=1)
    dates = drawn.panel.dates
    fit = (model or DGD()).fit(
        drawn.panel,
        train_end=dates[TRAIN_DAYS - 1],
        validation_end=dates[TRAIN_DAYS + VALIDATION_DAYS - 1],
        seeds=SEEDS,
        progress=progress,
    )
    predicted, days = _one_day_patterns(fit)
    return Demonstration(
        drawn,
        fit,
        recovery=_recovery(drawn, predicted, days),
        divergence=_divergence(drawn, predicted, days),
        forecasts=_forecasts(fit),
    )


def _one_day_patterns(fit: Fit) -> tuple[np.ndarray, np.ndarray]:
    days = np.arange(fit.split.validation_stop, fit.panel.days)
    arrivals, patterns = fit.predict(days - 1, 1)
    return average(arrivals[:, 0], patterns[:, 0])[1], days


def _recovery(drawn: Simulated, predicted: np.ndarray, days: np.ndarray) -> pl.DataFrame:
    """True and recovered probability of each behaviour, averaged over test days and units."""
    panel = drawn.panel
    bits = behavior_bits(len(panel.behaviors))
    true = (drawn.patterns[days] @ bits).mean((0, 1))
    recovered = (predicted @ bits).mean((0, 1))
    before = _training_rates(drawn)
    return pl.DataFrame(
        [
            {
                "cohort": cohort,
                "behavior": behavior,
                "true": true[g, h],
                "recovered": recovered[g, h],
                "training average": before[g, h],
            }
            for g, cohort in enumerate(panel.cohorts)
            for h, behavior in enumerate(panel.behaviors)
        ]
    )


def _training_rates(drawn: Simulated) -> np.ndarray:
    shown = drawn.panel.behavior_counts[:TRAIN_DAYS].sum((0, 1))
    return np.asarray(shown / drawn.panel.arrivals[:TRAIN_DAYS].sum((0, 1))[:, None])


def _divergence(drawn: Simulated, predicted: np.ndarray, days: np.ndarray) -> pl.DataFrame:
    """Mean Kullback-Leibler divergence from the true joint probabilities on the test days."""
    true = drawn.patterns[days]
    counts = drawn.panel.patterns[:TRAIN_DAYS].sum((0, 1)) + 0.5
    training = np.broadcast_to(counts / counts.sum(-1, keepdims=True), true.shape)
    yesterday = drawn.panel.patterns[days - 1] + 10.0 * training
    last_day = yesterday / yesterday.sum(-1, keepdims=True)
    models = {"dgd": predicted, "last day, smoothed": last_day, "training average": training}
    return pl.DataFrame(
        [
            {"model": name, "joint KL": float((true * np.log(true / q)).sum(-1).mean())}
            for name, q in models.items()
        ]
    )


def _forecasts(fit: Fit) -> pl.DataFrame:
    """Mean absolute error of daily totals one and seven days ahead, against the last day's."""
    panel = fit.panel
    observed = np.column_stack([panel.arrivals.sum((1, 2)), panel.behavior_counts.sum((1, 2))])
    rows = []
    for horizon in (1, 7):
        origins = np.arange(fit.split.validation_stop - 1, panel.days - horizon)
        arrivals, patterns = fit.predict(origins, horizon)
        expected, q = average(arrivals[:, -1], patterns[:, -1])
        shown = expected[..., None] * (q @ behavior_bits(len(panel.behaviors)))
        forecast = np.column_stack([expected.sum((1, 2)), shown.sum((1, 2))])
        happened = observed[origins + horizon]
        for place, name in enumerate(["arrivals", *panel.behaviors]):
            rows.append(
                {
                    "days ahead": horizon,
                    "daily total": name,
                    "happened (mean)": happened[:, place].mean(),
                    "forecast (mean)": forecast[:, place].mean(),
                    "dgd error": np.abs(forecast - happened)[:, place].mean(),
                    "last-day error": np.abs(observed[origins] - happened)[:, place].mean(),
                }
            )
    return pl.DataFrame(rows)
