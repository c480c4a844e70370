"""The main job on a world with known truth: draw, fit, compare, forecast."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from dgd.estimator import DGD
from dgd.fit import Fit
from dgd.forecasting.totals import daily_totals
from dgd.learning.loop import Progress
from dgd.model.bits import behavior_bits
from dgd.panel.panel import Panel
from dgd.simulation.draw import Simulated, simulate
from dgd.simulation.example import example_world

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

    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table, under the title that people see."""
        return {
            "Training": self.fit.summary("polars"),
            "Response probabilities on the test days: true and recovered": self.recovery,
            "Distance to the true joint probabilities on the test days": self.divergence,
            "Forecasts against what then happened": self.forecasts,
        }

    def payload(self) -> dict[str, Any]:
        """The tables as plain values."""
        return {
            "recovery": self.recovery.to_dicts(),
            "divergence": self.divergence.to_dicts(),
            "forecasts": self.forecasts.to_dicts(),
        }


def demonstrate(model: DGD | None = None, progress: Progress | bool | None = None) -> Demonstration:
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
    return fit.predict(days - 1, 1).averaged().patterns[0, 0], days


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
    parts = []
    for horizon in (1, 7):
        origins = np.arange(fit.split.validation_stop - 1, panel.days - horizon)
        totals = daily_totals(panel, origins, horizon, fit.predict(origins, horizon))
        observed, forecast = pl.col("observed").cast(pl.Float64), pl.col("forecast")
        last = _last_days(panel, origins)
        parts.append(
            totals.with_columns(last)
            .group_by("series", maintain_order=True)
            .agg(
                observed.mean().alias("happened (mean)"),
                forecast.mean().alias("forecast (mean)"),
                (forecast - observed).abs().mean().alias("dgd error"),
                (pl.col("last day") - observed).abs().mean().alias("last-day error"),
            )
            .select(
                pl.lit(horizon).alias("days ahead"), pl.col("series").alias("daily total"),
                pl.all().exclude("series"),
            )
        )  # fmt: skip
    return pl.concat(parts)


def _last_days(panel: Panel, origins: np.ndarray) -> pl.Series:
    """What each origin itself recorded, in the order of `daily_totals`."""
    arrivals = panel.arrivals[origins].sum((1, 2))
    shown = panel.behavior_counts[origins].sum((1, 2))
    return pl.Series("last day", np.r_[arrivals, shown.T.ravel()])
