"""Opponents that any model should be scored against."""

from dgd.baselines.deepar import DeepAR, DeepARFit
from dgd.baselines.gru import GRU, GRUFit
from dgd.baselines.joint_history import HistoryFit
from dgd.baselines.last_day import LastDayHistory
from dgd.baselines.smoothed_history import SmoothedHistory
from dgd.baselines.training_history import TrainingHistory
from dgd.baselines.weekday_history import WeekdayHistory

__all__ = [
    "GRU",
    "DeepAR",
    "DeepARFit",
    "GRUFit",
    "HistoryFit",
    "LastDayHistory",
    "SmoothedHistory",
    "TrainingHistory",
    "WeekdayHistory",
]
