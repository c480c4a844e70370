"""The models of the paper's comparisons, fitted and scored once per window."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import polars as pl

from dgd.backtesting import Backtest, backtest
from dgd.baselines import (
    GRU,
    DeepAR,
    LastDayHistory,
    SmoothedHistory,
    TrainingHistory,
    WeekdayHistory,
)
from dgd.datasets import Dataset
from dgd.estimator import DGD
from dgd.forecaster import Fitted, Forecaster
from dgd.paper.windows import Progress, Windows

SEEDS = (20260915, 20260916, 20260917)
RETAIL_EPOCHS, KUAIRAND_EPOCHS = 120, 300

Figures: TypeAlias = Mapping[tuple[str, str, str], float]
"""The paper's figure of a model, window and metric."""


def models_for(window: str, dataset: Dataset) -> dict[str, Forecaster]:
    """Every model that is scored on `window`, under the name its rows carry."""
    retention = dataset.summary_retention
    epochs = RETAIL_EPOCHS if window.startswith("Retail") else KUAIRAND_EPOCHS
    chosen: dict[str, Forecaster] = {
        "DGD": DGD.paper(epochs=epochs, summary_retention=retention),
        "DGD, library defaults": DGD(summary_retention=retention),
        "DeepAR-joint": DeepAR.paper(summary_retention=retention),
        "DeepAR-joint, library defaults": DeepAR(summary_retention=retention),
    }
    if not window.startswith("Retail"):
        chosen["Full-projection GRU"] = GRU(projection="full", summary_retention=retention)
        chosen["Restricted-projection GRU"] = GRU(
            projection="restricted", summary_retention=retention
        )
    return {
        **chosen,
        "Training history": TrainingHistory(),
        "Last-day history": LastDayHistory(),
        "Smoothed history": SmoothedHistory(),
        "Weekday history": WeekdayHistory(),
    }


def fit_on(dataset: Dataset, model: Forecaster) -> Fitted:
    """`model` fitted to the training and validation days of the data set's window."""
    return model.fit(
        dataset.panel,
        warmup_end=dataset.window.warmup_end,
        train_end=dataset.window.train_end,
        validation_end=dataset.window.validation_end,
        seeds=SEEDS,
    )


@dataclass
class Scored:
    """Backtests of all models, made when a table first needs them and then kept."""

    windows: Windows
    progress: Progress
    done: dict[str, Backtest] = field(default_factory=dict)

    def on(self, window: str) -> Backtest:
        """One-day scores of every model on the test days of `window`."""
        if window not in self.done:
            dataset = self.windows.all[window]
            fits = {}
            for name, model in models_for(window, dataset).items():
                self.progress(f"fitting {name} on {window}")
                fits[name] = fit_on(dataset, model)
            self.done[window] = backtest(
                dataset.panel,
                fits,
                horizons=[1],
                warmup_end=dataset.window.warmup_end,
                train_end=dataset.window.train_end,
                validation_end=dataset.window.validation_end,
                seeds=SEEDS,
            )
        return self.done[window]

    def rows(self, window: str, metrics: Mapping[str, str], paper: Figures) -> pl.DataFrame:
        """Rows of a table: every model's `metrics` on `window` beside the paper's figure."""
        table = self.on(window).to_frame("polars").filter(pl.col("metric").is_in(list(metrics)))
        return pl.DataFrame(
            [
                {
                    "model": row["model"],
                    "window": window,
                    "metric": metrics[row["metric"]],
                    "mean": row["mean"],
                    "sd": row["sd"],
                    "paper": paper.get((row["model"], window, metrics[row["metric"]])),
                }
                for row in table.iter_rows(named=True)
            ],
            schema=ROW,
        )


ROW = {
    "model": pl.String,
    "window": pl.String,
    "metric": pl.String,
    "mean": pl.Float64,
    "sd": pl.Float64,
    "paper": pl.Float64,
}
