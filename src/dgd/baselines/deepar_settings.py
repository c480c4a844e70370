"""Every choice a DeepAR-joint fit depends on, checked when it is made."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dgd.baselines.deepar_network import start_from_rates, start_from_training
from dgd.errors import InputError
from dgd.files import declared
from dgd.learning.setting_checks import (
    LARGEST,
    MOST_RETENTION,
    TRAINING_LIMITS,
    ByName,
    Limits,
    check_settings,
)

LARGEST_WIDTH = 1024
STARTS = {"training": start_from_training, "rates": start_from_rates}
_LIMITS: Limits = {
    **TRAINING_LIMITS,
    "count_weight": (0, LARGEST),
    "histories": (1, 1_000_000),
    "summary_retention": (0, MOST_RETENTION),
}


@dataclass(frozen=True, kw_only=True)
class DeepARSettings(ByName):
    """Settings of DeepAR-joint.

    Args:
        start: "rates" is the paper's: mark biases from the training rates and no dependence,
            which Adam then needs more than a hundred epochs to learn while the rest overfits.
            "training" starts with the training days' patterns and mean counts, has the
            lower validation objective, and is the stronger opponent in behaviours.
        widths: of the LSTM, to choose from on the validation days, for each seed by itself.
        epochs, learning_rate, clip_norm, patience: of Adam and early stopping. The
            paper names no patience; 30 is the longest it uses anywhere.
        count_weight, penalty_weight: of counts against behaviours, and of the mean
            squared parameter.
        histories: sampled count histories behind a forecast of more than one day.
        calendar, summary_retention: of the covariates, as in `dgd.DGD`.
    """

    start: str = "training"
    widths: Sequence[int] = (8, 16)
    epochs: int = 300
    learning_rate: float = 0.01
    clip_norm: float = 10.0
    patience: int = 30
    count_weight: float = 0.05
    penalty_weight: float = 0.001
    histories: int = 2048
    calendar: str = "auto"
    summary_retention: float = 0.85
    summaries: ClassVar[str] = "history"
    """The recurrent opponents always read the history summaries."""

    def __post_init__(self) -> None:
        if not isinstance(self.widths, Iterable) or isinstance(self.widths, str):
            raise InputError(f"widths is {self.widths!r}; give a list like (8, 16).")
        object.__setattr__(self, "widths", tuple(self.widths))
        check_settings(self, _LIMITS, {"start": STARTS})
        if not self.widths or not all(_is_width(width) for width in self.widths):
            raise InputError(
                f"widths is {self.widths}; give at least one, each a whole number from 1 to "
                f"{LARGEST_WIDTH}."
            )


def _is_width(width: object) -> bool:
    return declared.is_whole(width) and 1 <= width <= LARGEST_WIDTH
