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

_LIMITS: Limits = {
    **TRAINING_LIMITS,
    **POPULATION_LIMITS,
    "starts": (1, 1000),
    "prior_reach": (1e-3, 1e6),
}
LIKELIHOOD, EARLY_STOPPING = "likelihood", "early stopping"
CONTROL, INVERTED, UNSEEN = "control", "inverted", "none"
EARNED, KEPT = "earned", "kept"
FEEDBACK, STATIC = "feedback", "none"
_CHOICES = {
    "population": POPULATIONS,
    "method": (LIKELIHOOD, EARLY_STOPPING),
    "quality": ("auto", CONTROL, INVERTED, UNSEEN),
    "types": (EARNED, KEPT),
    "dynamics": (STATIC, FEEDBACK),
}


@dataclass(frozen=True, kw_only=True)
class ChoiceSettings(ByName):
    """Settings of the choice model.

    Args:
        components: K, Gaussian types of choosers per cohort.
        dim: d, dimensions of the propensity.
        nodes: quadrature nodes per component and dimension; estimation takes more where more
            would change the answer.
        population: "gaussian", the learned mixture; "fixed", the mixture frozen at its start;
            "discrete", three learned points per cohort; "point", everyone alike.
        types: "earned", a population in which people differ only where it predicts markets
            that were held out better than one in which all are alike; "kept", always.
        quality: what is done about prices that follow what no column holds. "control", where
            markets have instruments: what these leave unexplained of a price stands beside the
            attributes. "inverted": shares are inverted into the quality of every offer, and
            parameters are found by instruments alone. "none". "auto" is "control" where markets
            have instruments.
        dynamics: "none", or "feedback": what was bought moves tastes from period to period.
        method: "likelihood", searched to its top by second derivatives; "early stopping", the
            paper's protocol: Adam, stopped by validation markets, a parameter set per seed.
        starts: how many starts each seed searches from. The likelihood of a mixture has many
            hollows; the highest is kept, and the fit says whether the others agree.
        epochs: the most steps a search takes by slopes alone, or Adam's epochs.
        prior_reach: tau, how far loadings, means and scales of types may be expected to depart
            from zero and from their start, on standardised attributes.
        learning_rate: of Adam.
        clip_norm: the largest norm of a gradient for Adam; longer ones are cut back to it.
        patience: epochs without a better validation objective before Adam stops.
        penalty_weight: lambda_R, of the paper's protocol.
        initial_scale: standard deviation of every component at the start.
    """

    components: int = 2
    dim: int = 2
    nodes: int = 7
    population: str = "gaussian"
    types: str = EARNED
    quality: str = "auto"
    dynamics: str = STATIC
    method: str = LIKELIHOOD
    starts: int = 2
    epochs: int = 500
    prior_reach: float = 2.0
    learning_rate: float = 0.03
    clip_norm: float = 10.0
    patience: int = 30
    penalty_weight: float = 1e-4
    initial_scale: float = 0.5

    def __post_init__(self) -> None:
        check_settings(self, _LIMITS, _CHOICES)
        refuse_costly_population(self.components, self.nodes, self.dim)

    @property
    def objective(self) -> ChoiceObjective:
        return ChoiceObjective(self.penalty_weight)

    @property
    def optimizer(self) -> Optimizer:
        return Optimizer.of(self)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
