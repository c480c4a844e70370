"""Every choice a fit depends on, in one place, checked when it is made."""

from dataclasses import asdict, dataclass
from typing import Any

from dgd.errors import InputError
from dgd.learning.loop import Optimizer
from dgd.learning.objective import Objective
from dgd.learning.setting_checks import (
    refuse_below_one,
    refuse_negative,
    refuse_not_positive,
    refuse_unknown,
)
from dgd.learning.starts import STARTS
from dgd.model.context import CONTEXTS
from dgd.model.feedback.feedback import FEEDBACKS
from dgd.model.population.gaussian_mixture import SCALE_FLOOR
from dgd.model.population.named import POPULATIONS
from dgd.model.readout import READOUTS

_CHOICES = {
    "population": tuple(POPULATIONS),
    "dynamics": tuple(FEEDBACKS),
    "readout": tuple(READOUTS),
    "supervision": tuple(CONTEXTS),
    "start": ("best", *STARTS),
    "calendar": ("auto", "weekday", "hour", "weekday and hour", "none"),
}
_AT_LEAST_ONE = ("components", "nodes", "dim", "epochs", "patience")
_POSITIVE = ("learning_rate", "clip_norm", "dispersion", "initial_scale")
_NOT_NEGATIVE = (
    "count_weight",
    "expected_weight",
    "penalty_weight",
    "behavior_penalty",
    "calendar_penalty",
)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of Differentiable Gaussian Dynamics.

    The defaults were chosen by the validation objective on both Online Retail windows, the
    late KuaiRand window and simulated worlds; no test day took part.

    Args:
        components: K, Gaussian response types per cohort.
        nodes: quadrature nodes per component and dimension.
        dim: d, dimensions of the propensity.
        population: "gaussian", the learned mixture; "fixed", the mixture frozen at its start;
            "discrete", three learned points per cohort; "point", one.
        dynamics: "feedback", or "none" for a model that carries nothing from day to day
            beside the history summaries.
        readout: "weighted", people answer as often as they are reached; "separated", arrivals
            and behaviour integrate populations of their own.
        supervision: "counts", all arrivals of a cell share its features; "events", each is
            also told apart by the panel's context columns.
        start: "warmup" starts from warm-up rates, as the paper does; "training" from mean
            arrivals of the training days and a pooled logistic fit of the patterns; "best"
            trains from both and keeps, for every seed, the one that validates better.
        calendar: "auto" gives weekday effects where training holds at least two weeks.
        summary_retention: of the exponential averages behind the history summaries.
        initial_scale: standard deviation of every component at the start.
        epochs, learning_rate, clip_norm, patience: of Adam and early stopping.
        count_weight, expected_weight, penalty_weight: alpha, beta and lambda_R.
        dispersion: r of the negative-binomial working likelihood.
        behavior_penalty, calendar_penalty: how many times harder the regulariser holds
            the behaviour head's feature, memory, fatigue and environment effects, and the
            arrival head's feature effects, than the other coefficients.
    """

    components: int = 2
    nodes: int = 7
    dim: int = 1
    population: str = "gaussian"
    dynamics: str = "feedback"
    readout: str = "weighted"
    supervision: str = "counts"
    start: str = "best"
    calendar: str = "auto"
    summary_retention: float = 0.85
    initial_scale: float = 0.5
    epochs: int = 800
    learning_rate: float = 0.025
    clip_norm: float = 10.0
    patience: int = 40
    count_weight: float = 0.05
    expected_weight: float = 0.15
    penalty_weight: float = 0.001
    dispersion: float = 50.0
    behavior_penalty: float = 3000.0
    calendar_penalty: float = 1.0

    def __post_init__(self) -> None:
        refuse_below_one(self, _AT_LEAST_ONE)
        refuse_not_positive(self, _POSITIVE)
        refuse_negative(self, _NOT_NEGATIVE)
        refuse_unknown(self, _CHOICES)
        if self.initial_scale <= SCALE_FLOOR:
            raise InputError(
                f"initial_scale is {self.initial_scale}; it must be above the floor {SCALE_FLOOR}."
            )
        if not 0 <= self.summary_retention < 1:
            raise InputError(
                f"summary_retention is {self.summary_retention}; it must lie in [0, 1)."
            )

    @property
    def objective(self) -> Objective:
        return Objective(
            count_weight=self.count_weight,
            expected_weight=self.expected_weight,
            penalty_weight=self.penalty_weight,
            dispersion=self.dispersion,
            behavior_penalty=self.behavior_penalty,
            calendar_penalty=self.calendar_penalty,
        )

    @property
    def optimizer(self) -> Optimizer:
        return Optimizer.of(self)

    @property
    def starts(self) -> tuple[str, ...]:
        """The places that each seed is trained from."""
        return tuple(STARTS) if self.start == "best" else (self.start,)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


PAPER: dict[str, Any] = {
    "start": "warmup",
    "calendar": "weekday",
    "epochs": 120,
    "patience": 20,
    "behavior_penalty": 1.0,
}
"""Where the paper's choices differ from the library's."""
