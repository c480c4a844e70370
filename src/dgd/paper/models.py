"""The models of the paper's comparisons, fitted and scored once per window."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import polars as pl

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
from dgd.forecasting.protocol import Fitted, Forecaster
from dgd.paper.windows import Tell, Windows
from dgd.scoring.backtesting import Backtest, backtest

SEEDS = (20260915, 20260916, 20260917)
RETAIL_EPOCHS, KUAIRAND_EPOCHS = 120, 300

Figures: TypeAlias = Mapping[tuple[str, str, str], float]
"""The paper's figure of a model, window and metric."""


def dgd_for(window: str, dataset: Dataset) -> Callable[..., DGD]:
    """DGD as the ablations on `window` set it: the paper's settings on its own windows.

    On the late window those fail (three warm-up days), so the library's defaults stand in.
    """
    retention = dataset.summary_retention
    if window == "KuaiRand late":
        return partial(DGD, summary_retention=retention)
    return partial(DGD.paper, epochs=KUAIRAND_EPOCHS, summary_retention=retention)


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
    progress: Tell
    done: dict[str, Backtest] = field(default_factory=dict)

    def on(self, window: str) -> Backtest:
        """One-day scores of every model on the test days of `window`."""
        if window not in self.done:
            models = models_for(window, self.windows.all[window])
            self.done[window] = self._backtest(window, models, [1])
        return self.done[window]

    def rows(self, window: str, metrics: Mapping[str, str], paper: Figures) -> pl.DataFrame:
        """Rows of a table: every model's `metrics` on `window` beside the paper's figure."""
        return _rows(self.on(window), window, metrics, paper)

    def compare(
        self,
        window: str,
        models: Mapping[str, Forecaster],
        horizons: Sequence[int],
        metrics: Mapping[str, str],
        paper: Figures,
    ) -> pl.DataFrame:
        """The same rows for models of a table's own."""
        return _rows(self._backtest(window, models, horizons), window, metrics, paper)

    def _backtest(
        self, window: str, models: Mapping[str, Forecaster], horizons: Sequence[int]
    ) -> Backtest:
        dataset = self.windows.all[window]
        fits = {}
        for name, model in models.items():
            self.progress(f"fitting {name} on {window}")
            fits[name] = fit_on(dataset, model)
        return backtest(
            dataset.panel,
            fits,
            horizons=horizons,
            warmup_end=dataset.window.warmup_end,
            train_end=dataset.window.train_end,
            validation_end=dataset.window.validation_end,
            seeds=SEEDS,
        )


def _rows(
    scored: Backtest, window: str, metrics: Mapping[str, str], paper: Figures
) -> pl.DataFrame:
    table = scored.to_frame("polars").filter(pl.col("metric").is_in(list(metrics)))
    several = table["horizon"].n_unique() > 1
    rows = []
    for row in table.iter_rows(named=True):
        ahead = f", {row['horizon']} days" if several else ""
        metric = metrics[row["metric"]] + ahead
        figure = paper.get((row["model"], window, metric))
        rows.append((row["model"], window, metric, row["mean"], row["sd"], figure))
    return pl.DataFrame(rows, schema=ROW, orient="row")


ROW = {
    "model": pl.String,
    "window": pl.String,
    "metric": pl.String,
    "mean": pl.Float64,
    "sd": pl.Float64,
    "paper": pl.Float64,
}
