"""Table history-selection (E1): what the historical baselines chose on validation days."""

import polars as pl

from dgd.baselines import LastDayHistory, SmoothedHistory, TrainingHistory
from dgd.forecasting.protocol import Forecaster, settings_of
from dgd.paper.models import Scored, fit_on
from dgd.paper.rows import Row, table_of

PAPER = {
    "Retail 2010": {"Training": 10, "Last-day": 100, "Smoothed": 1, "half-life": 7},
    "Retail 2011": {"Training": 100, "Last-day": 100, "Smoothed": 1, "half-life": 7},
}


def history_selection(scored: Scored) -> pl.DataFrame:
    rows = []
    for window, dataset in scored.windows.retail.items():
        models: dict[str, Forecaster] = {
            "Training": TrainingHistory(),
            "Last-day": LastDayHistory(),
            "Smoothed": SmoothedHistory(),
        }
        for name, model in models.items():
            fitted = fit_on(dataset, model)
            scored.made_with.keep_fit(f"{name} history", window, fitted)
            settings, paper = settings_of(fitted), PAPER[window]
            rows.append(Row(f"{name} history", window, "tau", settings["tau"], None, paper[name]))
            if name == "Smoothed":
                days = (settings["half_life"], None, paper["half-life"])
                rows.append(Row(f"{name} history", window, "half-life (days)", *days))
    return table_of(rows)
