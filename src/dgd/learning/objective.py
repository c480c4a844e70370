"""What training minimises: count and pattern likelihoods, both branches, the regulariser."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.days import Inputs, Outcomes, Prediction
from dgd.model.feedback import State
from dgd.model.model import Model
from dgd.model.sweep import Sweep, expect_next, observe


@dataclass(frozen=True)
class Objective:
    """The weights of the objective's terms.

    **Arguments:**

    - `count_weight`: alpha, of arrival counts against behaviour patterns.
    - `expected_weight`: beta, of the expected-feedback branch.
    - `penalty_weight`: lambda_R, of the regulariser.
    - `dispersion`: r of the negative-binomial working likelihood.
    - `behavior_penalty`: how many times harder the behaviour head's feature, memory,
        fatigue and environment effects are penalised than the other coefficients.
    - `calendar_penalty`: the same for the arrival head's feature effects.
    """

    count_weight: float = 0.05
    expected_weight: float = 0.15
    penalty_weight: float = 0.001
    dispersion: float = 50.0
    behavior_penalty: float = 1.0
    calendar_penalty: float = 1.0

    def train(
        self, model: Model, inputs: Inputs, outcomes: Outcomes
    ) -> tuple[Float[Array, ""], State]:
        r"""The training objective, and the state after the last training day.

        .. math:: \frac1T \Big[\sum_t (L_{B,t} + \alpha L_{N,t})
            + \beta \sum_{t<T} L^{free}_{t+1|t}\Big] + \lambda_R R(\theta)
        """
        sweep = observe(model, inputs, outcomes, model.initial_state())
        total = self.daily(sweep.predictions, outcomes, _told(model, sweep, outcomes)).sum()
        days = len(outcomes.arrivals)
        if self.expected_weight and days > 1:
            following = outcomes.between(1, None)
            nodes, expected = expect_next(model, sweep, inputs)
            told = model.log_likelihood(nodes, expected, following)
            free = self.daily(expected, following, told).sum()
            total = total + self.expected_weight * free
        return total / days + self.penalty_weight * self.penalty(model), sweep.final

    def validate(
        self, model: Model, inputs: Inputs, outcomes: Outcomes, initial: State
    ) -> Float[Array, ""]:
        """Mean daily loss of the observed branch on the days after `initial`."""
        sweep = observe(model, inputs, outcomes, initial)
        return self.daily(sweep.predictions, outcomes, _told(model, sweep, outcomes)).mean()

    def daily(
        self,
        prediction: Prediction,
        outcomes: Outcomes,
        log_likelihood: Float[Array, "date unit cohort"],
    ) -> Float[Array, " date"]:
        """L_B + alpha L_N of each day; `log_likelihood` is that of each cell's patterns."""
        counts = count_loss(prediction, outcomes, self.dispersion)
        return behavior_loss(log_likelihood, outcomes) + self.count_weight * counts

    def penalty(self, model: Model) -> Float[Array, ""]:
        """R: mean square of the main coefficients and of the scales' departures from the start."""
        arrival, behavior, feedback = model.arrival, model.behavior, model.feedback
        terms = [
            (self.calendar_penalty, arrival.feature_effect),
            (1.0, arrival.loading),
            (self.behavior_penalty, behavior.feature_effect),
            (self.behavior_penalty, behavior.memory_effect),
            (self.behavior_penalty, behavior.fatigue_effect),
            (self.behavior_penalty, behavior.environment_effect),
            *((self.behavior_penalty, effect) for effect in model.context.coefficients()),
            (1.0, behavior.free_loading),
            (1.0, behavior.dependence_entries),
            *((1.0, coefficient) for coefficient in feedback.coefficients()),
            (1.0, model.population.scale_departure()),
            (1.0, model.readout.scale_departure()),
        ]
        size = sum(np.prod(x.shape) for _, x in terms)
        return sum((weight * (x**2).sum() for weight, x in terms), jnp.zeros(())) / float(size)


def _told(model: Model, sweep: Sweep, outcomes: Outcomes) -> Float[Array, "date unit cohort"]:
    """How likely the observed branch held what was recorded."""
    return model.log_likelihood(sweep.nodes, sweep.predictions, outcomes)


def behavior_loss(
    log_likelihood: Float[Array, "date unit cohort"], outcomes: Outcomes
) -> Float[Array, " date"]:
    r"""L_B = - sum C(y) log q(y) / max(1, sum N), per day."""
    return -log_likelihood.sum((1, 2)) / jnp.maximum(1.0, outcomes.arrivals.sum((1, 2)))


def count_loss(
    prediction: Prediction, outcomes: Outcomes, dispersion: float
) -> Float[Array, " date"]:
    r"""L_N = - mean over cells of log NB(N; Nhat, r), per day.

    Where effort is zero nothing is expected and nothing was recorded: the cell adds 0.
    """
    expected = prediction.arrivals
    possible = expected > 0
    safe = jnp.where(possible, expected, 1.0)
    log_total = jnp.log(dispersion + safe)
    log_probability = (
        outcomes.log_count_constant
        + dispersion * (np.log(dispersion) - log_total)
        + outcomes.arrivals * (jnp.log(safe) - log_total)
    )
    return -jnp.where(possible, log_probability, 0.0).mean((1, 2))
