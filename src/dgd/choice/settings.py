"""Every choice a choice fit depends on, in one place, checked when it is made."""

from dataclasses import asdict, dataclass
from typing import Any

from dgd.choice.objective import ChoiceObjective
from dgd.learning.loop import Optimizer
from dgd.learning.setting_checks import (
    POPULATION_LIMITS,
    TRAINING_LIMITS,
    ByName,
    Limits,
    check_settings,
    refuse_costly_population,
)
from dgd.model.population.named import POPULATIONS

_LIMITS: Limits = {**TRAINING_LIMITS, **POPULATION_LIMITS, "starts": (1, 1000)}


@dataclass(frozen=True, kw_only=True)
class ChoiceSettings(ByName):
    """Settings of the choice model; the defaults are the paper's where it names them.

    Args:
        components: K, Gaussian types of choosers per cohort.
        dim: d, dimensions of the propensity.
        nodes: quadrature nodes per component and dimension.
        population: "gaussian", the learned mixture; "fixed", the mixture frozen at its start;
            "discrete", three learned points per cohort; "point", one.
        starts: how many starts each seed is trained from; the one that validates best is
            kept. The likelihood of a mixture has many hollows, and a start decides for one
            of them.
        epochs: the most Adam takes; early stopping may end sooner.
        learning_rate: of Adam.
        clip_norm: the largest norm of a gradient; longer ones are cut back to it.
        patience: epochs without a better validation objective before training stops.
        penalty_weight: lambda_R.
        initial_scale: standard deviation of every component at the start.
    """

    components: int = 2
    dim: int = 2
    nodes: int = 7
    population: str = "gaussian"
    starts: int = 4
    epochs: int = 180
    learning_rate: float = 0.03
    clip_norm: float = 10.0
    patience: int = 30
    penalty_weight: float = 1e-4
    initial_scale: float = 0.5

    def __post_init__(self) -> None:
        check_settings(self, _LIMITS, {"population": POPULATIONS})
        refuse_costly_population(self.components, self.nodes, self.dim)

    @property
    def objective(self) -> ChoiceObjective:
        return ChoiceObjective(self.penalty_weight)

    @property
    def optimizer(self) -> Optimizer:
        return Optimizer.of(self)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
