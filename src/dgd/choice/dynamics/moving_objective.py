"""What training through time minimises: both branches of feedback, and the regulariser."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dgd.choice.choice_demand import Shares
from dgd.choice.dynamics.carrying import advanced
from dgd.choice.dynamics.moving_demand import MovingDemand, States
from dgd.choice.objective import SMALLEST_SHARE, Sales, penalty
from dgd.choice.offers import Offers
from dgd.learning.loop import TrainingData

EXPECTED_WEIGHT = 0.15
"""beta, as in the core."""
CARRIED_PENALTY = 1.0
"""How many times harder the effects of what is carried are held than other coefficients."""


@dataclass(frozen=True, kw_only=True)
class MovingObjective:
    """The weights of the objective's terms.

    Args:
        penalty_weight: lambda_R, of the regulariser.
        expected_weight: beta, of the expected-feedback branch.
        carried_penalty: how many times harder the effects of memory, fatigue and shift are
            penalised than the other coefficients.
    """

    penalty_weight: float
    expected_weight: float = EXPECTED_WEIGHT
    carried_penalty: float = CARRIED_PENALTY

    def train(self, model: MovingDemand, offers: Offers, sales: Sales) -> Float[Array, ""]:
        r"""The training objective.

        .. math:: L + \beta L^{free} + \lambda_R R(\theta)

        where L is the negative multinomial log-likelihood of one opportunity with every period
        led to by counted purchases, and the free loss that of all periods but the first, each led
        to by the purchases expected in the period before it.
        """
        states = model.states(offers)
        seen = shares_in(model, offers, states)
        held = penalty(model) + self.carried_penalty * carried_penalty(model)
        total = market_loss(seen, sales) + self.penalty_weight * held
        if model.carried and self.expected_weight and len(model.past(offers).bought) > 1:
            free, counted = expected_branch(model, offers, sales, states, seen)
            part = (counted.products.sum() + counted.outside.sum()) / _opportunities(sales)
            total = total + self.expected_weight * part * market_loss(free, counted)
        return total

    @staticmethod
    def validate(model: MovingDemand, offers: Offers, sales: Sales) -> Float[Array, ""]:
        """The loss of the observed branch alone."""
        return market_loss(model.shares(offers), sales)


def carried_penalty(model: MovingDemand) -> Float[Array, ""]:
    """Mean square of the effects of what is carried, and of how places differ."""
    held = [held.coefficients for part in model.carried for held in part.held()]
    held.append(model.place_effect)
    squares = sum(((x**2).sum() for x in held), jnp.zeros(()))
    return squares / float(max(1, sum(x.size for x in held)))


def shares_in(model: MovingDemand, offers: Offers, states: States) -> Shares:
    """Shares of markets whose places carry `states` at the beginning of each period."""
    history = model.past(offers)
    moved = model.moved_by(states, history)
    return model.shares_of(offers, moved.at(history.period, history.place))


def expected_branch(
    model: MovingDemand, offers: Offers, sales: Sales, states: States, seen: Shares
) -> tuple[Shares, Sales]:
    """Leave every period but the last by expected purchases: shares in the period after it, and
    the sales to hold against them, none of which are those of the first period.

    Each period is left from the state that counted purchases led to: one step.
    """
    history = model.past(offers)
    usual = model.usual.at(history.home)
    left = jax.tree.map(lambda x: x[:-1], (states, model.purchases(offers, seen)))
    following = advanced(model.carried, left[0], left[1].signals(usual), usual)
    led_to = history.period > 0
    before = jnp.maximum(history.period - 1, 0)
    moved = model.moved_by(following, history).at(before, history.place)
    counted = Sales(
        jnp.where(led_to[:, None], sales.products, 0.0), jnp.where(led_to, sales.outside, 0.0)
    )
    return model.shares_of(offers, moved), counted


def market_loss(shares: Shares, sales: Sales) -> Float[Array, ""]:
    r"""Negative multinomial log-likelihood of one opportunity.

    .. math:: L = -\frac{\sum_m \sum_b C_{mb} \log s_{mb}}{\sum_m \sum_b C_{mb}}
    """
    products, outside = (jnp.log(jnp.maximum(share, SMALLEST_SHARE)) for share in shares)
    fitted = (sales.products * products).sum() + (sales.outside * outside).sum()
    return -fitted / _opportunities(sales)


def moving_losses(
    objective: MovingObjective, trainable: MovingDemand, data: TrainingData
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Training and validation objective; gradients flow through the first only."""
    model = eqx.combine(trainable, data.fixed)
    value = objective.train(model, *data.train)
    return value, objective.validate(jax.lax.stop_gradient(model), *data.validation)


def _opportunities(sales: Sales) -> Float[Array, ""]:
    return sales.products.sum() + sales.outside.sum()
