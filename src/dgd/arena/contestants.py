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
    "without anchor": {"anchor": "none"},
    "without tilts": {"tilts": "none"},
    "without own movements": {"tilts": "shared"},
    "without swings": {"tilts": "weekdays"},
    "without weekdays": {"tilts": "swings"},
    "without deviations": {"arrival_anchor": "means"},
    "without smoothers": {"arrival_anchor": "none"},
    "without the model": {"departures": "none"},
    "given spread": {"spread": "given"},
}
"""The defaults but for one part, by the setting that takes it away. All of them are decided
after training, so that they share the parameters of the defaults."""

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
