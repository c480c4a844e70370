"""The models of the paper's comparisons, fitted and scored once per window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from dgd.forecasting.protocol import Fitted, Forecaster
from dgd.learning.progress import silent
from dgd.paper.made_with import MadeWith
from dgd.paper.presets import LATE, library_defaults, paper_preset, preset_that_trains
from dgd.paper.rows import Row, table_of
from dgd.paper.windows import Tell, Windows
from dgd.scoring.backtesting import Backtest, backtest

SEEDS = (20260915, 20260916, 20260917)

Figures: TypeAlias = Mapping[tuple[str, str, str], float]
"""The paper's figure of a model, window and metric."""


def models_for(window: str, dataset: Dataset) -> dict[str, Forecaster]:
    """Every model that is scored on `window`, under the name its rows carry.

    On the late window, where the paper's preset fails, it also stands with either of the two
    remedies: the calendar that five training days allow, and a start from those days. The
    GRUs read what the preset with that calendar reads.
    """
    retention = dataset.summary_retention
    presets = [paper_preset(window, dataset), library_defaults(dataset)]
    if window == LATE:
        from_training = paper_preset(window, dataset, start="training")
        presets[1:1] = [preset_that_trains(window, dataset), from_training]
    chosen: dict[str, Forecaster] = {preset.named("DGD"): preset.model() for preset in presets}
    chosen["DeepAR-joint, paper preset"] = DeepAR.paper(summary_retention=retention)
    chosen["DeepAR-joint, library defaults"] = DeepAR(summary_retention=retention)
    if not window.startswith("Retail"):
        calendar = preset_that_trains(window, dataset).settings["calendar"]
        for projection in ("full", "restricted"):
            chosen[f"{projection.capitalize()}-projection GRU, calendar {calendar}"] = GRU(
                projection=projection, calendar=calendar, summary_retention=retention
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
        progress=silent,
    )


@dataclass
class Scored:
    """Backtests of all models, made when a table first needs them and then kept."""

    windows: Windows
    progress: Tell
    done: dict[str, Backtest] = field(default_factory=dict)
    made_with: MadeWith = field(default_factory=MadeWith)

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
            self.made_with.keep_fit(name, window, fits[name])
        return backtest(
            dataset.panel,
            fits,
            horizons=horizons,
            warmup_end=dataset.window.warmup_end,
            train_end=dataset.window.train_end,
            validation_end=dataset.window.validation_end,
            seeds=SEEDS,
            paths=0,
        )


def _rows(
    scored: Backtest, window: str, metrics: Mapping[str, str], paper: Figures
) -> pl.DataFrame:
    keys = ["model", "horizon", "metric"]
    each = scored.scores.group_by(keys, maintain_order=True).agg("score")
    table = scored.to_frame("polars").join(each, on=keys, maintain_order="left")
    table = table.filter(pl.col("metric").is_in(list(metrics)))
    several = table["horizon"].n_unique() > 1
    rows = []
    for row in table.iter_rows(named=True):
        ahead = f", {row['horizon']} days" if several else ""
        metric = metrics[row["metric"]] + ahead
        figure = paper.get((row["model"], window, metric))
        scores = row["score"] if row["seeds"] > 1 else None
        rows.append(Row(row["model"], window, metric, row["mean"], row["sd"], figure, scores))
    return table_of(rows)
