"""What training minimises: count and pattern likelihoods, both branches, the regulariser."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dgd.model import negative_binomial
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Outcomes, Prediction
from dgd.model.feedback.feedback import State
from dgd.model.held import Group
from dgd.model.innovations import settling
from dgd.model.sweep import Sweep, expect_next, observe


@dataclass(frozen=True, kw_only=True)
class Objective:
    """The weights of the objective's terms.

    Args:
        count_weight: alpha, of arrival counts against behaviour patterns.
        expected_weight: beta, of the expected-feedback branch.
        penalty_weight: lambda_R, of the regulariser.
        dispersion: r of the negative-binomial working likelihood.
        behavior_penalty: how many times harder the behaviour head's feature, memory,
            fatigue and environment effects are penalised than the other coefficients.
        calendar_penalty: the same for the arrival head's feature effects.
    """

    count_weight: float
    expected_weight: float
    penalty_weight: float
    dispersion: float
    behavior_penalty: float
    calendar_penalty: float

    def train(
        self, crowd: Crowd, inputs: Inputs, outcomes: Outcomes
    ) -> tuple[Float[Array, ""], State]:
        r"""The training objective, and the state after the last training day.

        .. math:: \frac1T \Big[\sum_t (L_{B,t} + \alpha L_{N,t})
            + \beta \sum_{t<T} L^{free}_{t+1|t}\Big] + \lambda_R R(\theta)
        """
        sweep = observe(crowd, inputs, outcomes, crowd.at_rest())
        total = self.daily(sweep.predictions, outcomes, _told(crowd, sweep, outcomes)).sum()
        days = len(outcomes.arrivals)
        if self.expected_weight and days > 1:
            following = outcomes.between(1, None)
            nodes, expected = expect_next(crowd, sweep, inputs, outcomes.times)
            told = crowd.log_likelihood(nodes, expected, following)
            free = self.daily(expected, following, told).sum()
            total = total + self.expected_weight * free
        return total / days + self.penalty_weight * self.penalty(crowd), sweep.final

    def through_time(
        self, crowd: Crowd, inputs: Inputs, outcomes: Outcomes, training_days: Int[Array, ""]
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Training and validation objective where innovations correct every day by those before;
        the first days set levels and are not scored."""
        sweep = observe(crowd, inputs, outcomes, crowd.at_rest())
        day = jnp.arange(len(outcomes.arrivals))
        trained = (day >= settling(len(day))) & (day < training_days)
        daily = self.daily(sweep.predictions, outcomes, _told(crowd, sweep, outcomes))
        total = jnp.where(trained, daily, 0.0).sum()
        if self.expected_weight:
            following = outcomes.between(1, None)
            nodes, expected = expect_next(crowd, sweep, inputs, outcomes.times)
            free = self.daily(expected, following, crowd.log_likelihood(nodes, expected, following))
            total = total + self.expected_weight * jnp.where(trained[1:], free, 0.0).sum()
        value = total / trained.sum() + self.penalty_weight * self.penalty(crowd)
        after = day >= training_days
        validation = jnp.where(after, daily, 0.0).sum() / after.sum()
        return value, jax.lax.stop_gradient(validation)

    def validate(
        self, crowd: Crowd, inputs: Inputs, outcomes: Outcomes, initial: State
    ) -> Float[Array, ""]:
        """Mean daily loss of the observed branch on the days after `initial`."""
        sweep = observe(crowd, inputs, outcomes, initial)
        return self.daily(sweep.predictions, outcomes, _told(crowd, sweep, outcomes)).mean()

    def daily(
        self,
        prediction: Prediction,
        outcomes: Outcomes,
        log_likelihood: Float[Array, "date unit cohort"],
    ) -> Float[Array, " date"]:
        """L_B + alpha L_N of each day; `log_likelihood` is that of each cell's patterns."""
        counts = count_loss(prediction, outcomes, self.dispersion)
        return behavior_loss(log_likelihood, outcomes) + self.count_weight * counts

    def strengths(self) -> dict[Group, float]:
        """How hard each group of coefficients is held."""
        return {
            "behavior": self.behavior_penalty,
            "calendar": self.calendar_penalty,
            "other": 1.0,
        }

    def penalty(self, crowd: Crowd) -> Float[Array, ""]:
        """R: mean square of the main coefficients and of the scales' departures from the start."""
        strength = self.strengths()
        held = crowd.held()
        size = sum(np.prod(x.shape) for _, x in held)
        squares = (strength[group] * (x**2).sum() for group, x in held)
        return sum(squares, jnp.zeros(())) / float(size)


def _told(crowd: Crowd, sweep: Sweep, outcomes: Outcomes) -> Float[Array, "date unit cohort"]:
    """How likely the observed branch held what was recorded."""
    return crowd.log_likelihood(sweep.nodes, sweep.predictions, outcomes)


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
    mean = jnp.where(possible, expected, 1.0)
    kernel = negative_binomial.log_kernel(outcomes.arrivals, mean, jnp.full_like(mean, dispersion))
    log_probability = outcomes.log_count_constant + kernel
    return -jnp.where(possible, log_probability, 0.0).mean((1, 2))
