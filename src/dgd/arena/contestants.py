"""Who takes part: the library, the library with one part taken away, and its opponents."""

from collections.abc import Callable, Mapping

from dgd.baselines import (
    DeepAR,
    LastDayHistory,
    SlowHistory,
    SmoothedHistory,
    TrainingHistory,
    WeekdayHistory,
)
from dgd.estimator import DGD
from dgd.forecasting.protocol import Forecaster

DEFAULT = "default"

TAKEN_AWAY: Mapping[str, Mapping[str, str]] = {
    "without innovations": {"innovations": "none"},
    "without feedback": {"dynamics": "none"},
    "without heterogeneity": {"population": "point"},
}
"""The defaults but for one part, by the setting that takes it away; each is fitted for itself."""

SIMPLE: Mapping[str, Callable[[], Forecaster]] = {
    "training history": TrainingHistory,
    "smoothed history": SmoothedHistory,
    "last-day history": LastDayHistory,
    "weekday history": WeekdayHistory,
    "slow history": SlowHistory,
}
"""The opponents whose best, picked with hindsight on each window, sets the mark."""

TRAINED: Mapping[str, Callable[[], Forecaster]] = {
    "paper preset": DGD.paper,
    "DeepAR-joint": DeepAR,
}
"""What is trained for itself beside the defaults."""
