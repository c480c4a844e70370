"""What training through time minimises: both branches, and gradients through the periods."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from dgd.choice import Offers, Shares, shares
from dgd.choice.dynamics.moving_demand import MovingDemand
from dgd.choice.dynamics.moving_objective import (
    MovingObjective,
    expected_branch,
    shares_in,
)
from dgd.choice.objective import Sales, choice_loss
from dgd.runtime import computing
from support.moving_choice import PERIODS, random_moving, weekly, with_history

OBJECTIVE = MovingObjective(penalty_weight=0.01, expected_weight=0.4)


@eqx.filter_jit
def left_by_expectation(model: MovingDemand, offers: Offers, sales: Sales) -> tuple[Shares, Sales]:
    states = model.states(offers)
    return expected_branch(model, offers, sales, states, shares_in(model, offers, states))


def test_each_period_of_the_expected_branch_is_one_expected_step_from_recorded_ones():
    markets = weekly()
    week = np.array(markets.marks["week"].labels)[markets.marks["week"].of_market]
    before, period = PERIODS[3], PERIODS[4]
    with computing():
        model, offers = random_moving(1), with_history(markets)
        free, counted = left_by_expectation(model, offers, Sales.of(markets))
        step = shares(model, with_history(markets, since=before))
        assert np.allclose(free.products[week == period], step.products[week == period], atol=1e-12)
        known = shares(model, offers).products[week == period]
        assert not np.allclose(free.products[week == period], known, atol=1e-6)
    first = week == PERIODS[0]
    assert (np.asarray(counted.products)[first] == 0).all()
    assert np.array_equal(np.asarray(counted.products)[~first], markets.count[~first])


def test_the_observed_branch_is_the_loss_of_the_choice_model():
    markets = weekly()
    plain = MovingObjective(penalty_weight=0.0, expected_weight=0.0)
    with computing():
        given = random_moving(2), with_history(markets), Sales.of(markets)
        losses = (plain.train, plain.validate, choice_loss)
        found = [float(eqx.filter_jit(loss)(*given)) for loss in losses]
    assert np.allclose(found, found[0], rtol=1e-12)


def test_gradients_through_time_agree_with_finite_differences():
    markets = weekly()
    with computing():
        model, offers, sales = random_moving(3), with_history(markets), Sales.of(markets)
        free, fixed = eqx.partition(model, model.trainable())
        start, unravel = ravel_pytree(free)

        @jax.jit
        def value(vector: jnp.ndarray) -> jnp.ndarray:
            return OBJECTIVE.train(eqx.combine(unravel(vector), fixed), offers, sales)

        slope = np.asarray(jax.jit(jax.grad(value))(start))
        step = 1e-5
        for index in range(len(start)):
            ends = [float(value(start.at[index].add(sign * step))) for sign in (1, -1)]
            assert np.isclose((ends[0] - ends[1]) / (2 * step), slope[index], rtol=1e-5, atol=1e-8)
    assert (slope[: len(slope)] != 0).mean() > 0.9


def test_retentions_are_learned_through_the_periods():
    markets = weekly()
    with computing():
        model, offers, sales = random_moving(4), with_history(markets), Sales.of(markets)
        slope = eqx.filter_jit(eqx.filter_grad(OBJECTIVE.train))(model, offers, sales)
        assert all(abs(float(part.raw_retention)) > 1e-8 for part in slope.carried)
