"""Every choice a fit depends on, in one place, checked when it is made."""

from dataclasses import asdict, dataclass
from typing import Any

from dgd.errors import InputError
from dgd.learning.effort_start import EFFORT_RESPONSES
from dgd.learning.loop import Optimizer
from dgd.learning.objective import Objective
from dgd.learning.setting_checks import (
    LARGEST,
    MOST_RETENTION,
    POPULATION_LIMITS,
    TRAINING_LIMITS,
    ByName,
    Limits,
    check_settings,
    refuse_costly_population,
)
from dgd.model.context import CONTEXTS
from dgd.model.feedback.feedback import FEEDBACKS
from dgd.model.population.named import POPULATIONS
from dgd.model.readout import READOUTS
from dgd.panel.features import SUMMARIES

_CHOICES = {
    "population": tuple(POPULATIONS),
    "dynamics": tuple(FEEDBACKS),
    "readout": tuple(READOUTS),
    "supervision": tuple(CONTEXTS),
    "effort_response": tuple(EFFORT_RESPONSES),
    "start": ("best", "warmup", "training"),
    "calendar": ("auto", "weekday", "hour", "weekday and hour", "none"),
    "summaries": ("auto", *SUMMARIES),
    "innovations": ("auto", "learned", "none"),
}
_LIMITS: Limits = {
    **TRAINING_LIMITS,
    **POPULATION_LIMITS,
    "dispersion": (1e-6, LARGEST),
    "summary_retention": (0, MOST_RETENTION),
    "count_weight": (0, LARGEST),
    "expected_weight": (0, LARGEST),
    "behavior_penalty": (0, LARGEST),
    "calendar_penalty": (0, LARGEST),
}


@dataclass(frozen=True, kw_only=True)
class Settings(ByName):
    """Settings of Differentiable Gaussian Dynamics.

    The defaults were chosen by the validation objective on both Online Retail windows, the
    late KuaiRand window and simulated worlds. Test scores of those windows were at hand while
    the library was built, so its figures on them are no blind test.

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
        effort_response: "learned", arrivals rise with effort as they did in training, by an
            elasticity of each cohort; in proportion where its effort never varied;
            "proportional", one to one, as in the paper.
        start: where training starts without innovations: "warmup", from warm-up rates, as the
            paper does; "training", from mean arrivals of the training days and a pooled logistic
            fit of the patterns; "best" trains from both and keeps, for every seed, the one that
            validates better. With innovations everybody starts alike.
        calendar: "auto" gives weekday effects where training holds at least two weeks, and leaves
            them to innovations where these are learned.
        summaries: "history" gives exponential averages of what was counted before as
            features; "none" leaves what the past says to the dynamics alone; "auto", the former
            without innovations, the latter with them.
        summary_retention: of the exponential averages behind the history summaries.
        initial_scale: standard deviation of every component at the start.
        epochs, learning_rate, clip_norm, patience: of Adam and early stopping.
        count_weight, expected_weight, penalty_weight: alpha, beta and lambda_R.
        dispersion: r of the negative-binomial working likelihood; without innovations that of
            forecasts too, which otherwise scatter as they did around past ones.
        behavior_penalty, calendar_penalty: how many times harder the regulariser holds
            the behaviour head's feature, memory, fatigue and environment effects, and the
            arrival head's feature effects, than the other coefficients.
        innovations: "learned", levels, swings and seasonal effects of all cells, units, cohorts
            and single cells correct what the rest of the model did not expect of arrivals and
            joint patterns, and nobody has a level beside them (`model/innovations.py`); "none",
            only the arrival environment is corrected, as in the paper; "auto", the former where
            supervision is by counts.
    """

    components: int = 2
    nodes: int = 7
    dim: int = 1
    population: str = "gaussian"
    dynamics: str = "feedback"
    readout: str = "weighted"
    supervision: str = "counts"
    effort_response: str = "learned"
    start: str = "best"
    calendar: str = "auto"
    summaries: str = "auto"
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
    innovations: str = "auto"

    def __post_init__(self) -> None:
        check_settings(self, _LIMITS, _CHOICES)
        refuse_costly_population(self.components, self.nodes, self.dim)
        if self.innovations == "learned" and self.supervision == "events":
            raise InputError(
                'innovations "learned" corrects the patterns of whole cells, but supervision is '
                '"events"; choose supervision "counts" or innovations "none".'
            )

    def resolved(self) -> dict[str, Any]:
        """Every setting with what "auto" means."""
        wanted = self.innovations
        if wanted == "auto":
            wanted = "none" if self.supervision == "events" else "learned"
        learned = wanted == "learned"
        changed: dict[str, Any] = {"innovations": wanted}
        if learned and self.calendar == "auto":
            changed["calendar"] = "none"
        if self.summaries == "auto":
            changed["summaries"] = "none" if learned else "history"
        return {**self.as_dict(), **changed}

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
        if self.innovations == "learned":
            return ("alike",)
        return ("warmup", "training") if self.start == "best" else (self.start,)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


PAPER: dict[str, Any] = {
    "effort_response": "proportional",
    "start": "warmup",
    "calendar": "weekday",
    "epochs": 120,
    "patience": 20,
    "behavior_penalty": 1.0,
    "summaries": "history",
    "innovations": "none",
}
"""Where the paper's choices differ from the library's."""
