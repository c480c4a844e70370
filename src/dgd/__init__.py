"""Learn collective dynamics from counts.

panel = dgd.Panel.from_counts(counts, behaviors=["click", "like"])
fit = dgd.DGD().fit(panel, train_end="2022-04-21", validation_end="2022-04-28")
fit.forecast(horizon=7).to_frame()
"""

from dgd import baselines, choice, datasets, diagnostics
from dgd.counting import (
    Assignment,
    CountReport,
    count_events,
    hash_bucket,
    hash_buckets,
    newcomer_cohorts,
    rate_cohorts,
    spending_cohorts,
    top_units,
)
from dgd.errors import DGDError, InputError, ModelFileError
from dgd.estimator import DGD
from dgd.fit import Fit
from dgd.forecasting.forecast import Forecast
from dgd.forecasting.protocol import Fitted, Forecaster
from dgd.learning.settings import Settings
from dgd.panel.panel import Panel
from dgd.scoring.backtesting import Backtest, backtest
from dgd.simulation.draw import Simulated, World, example_world, simulate
from dgd.storage import load
from dgd.tables.clock import Clock

__version__ = "0.1.0"

__all__ = [
    "DGD",
    "Assignment",
    "Backtest",
    "Clock",
    "CountReport",
    "DGDError",
    "Fit",
    "Fitted",
    "Forecast",
    "Forecaster",
    "InputError",
    "ModelFileError",
    "Panel",
    "Settings",
    "Simulated",
    "World",
    "backtest",
    "baselines",
    "choice",
    "count_events",
    "datasets",
    "diagnostics",
    "example_world",
    "hash_bucket",
    "hash_buckets",
    "load",
    "newcomer_cohorts",
    "rate_cohorts",
    "simulate",
    "spending_cohorts",
    "top_units",
]
