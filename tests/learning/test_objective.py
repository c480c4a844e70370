"""The fast all-days objective against a literal day-by-day one, and its gradients."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.stats import nbinom

from dgd.diagnostics.gradients import value_and_slope
from dgd.learning.objective import behavior_loss, count_loss
from dgd.model import Inputs, Outcomes, sweep
from dgd.model.multinomial import log_likelihood
from dgd.runtime import computing
from support.compiled import observed
from support.objectives import objective
from support.random_crowds import random_crowd, random_days

OBJECTIVE = objective(penalty_weight=0.01, behavior_penalty=3.0, calendar_penalty=2.0)
DAYS = 6


def daily(expected, recorded):
    told = (recorded.patterns * jnp.log(expected.patterns)).sum(0)
    return OBJECTIVE.daily(expected, recorded, told)[0]


def each_day(given):
    """The days one after another along a new axis, each a day by itself."""
    days = [given.between(t, t + 1) for t in range(DAYS)]
    return jax.tree.map(lambda *same: jnp.stack(same), *days)


def literal_objective(crowd, inputs, outcomes):
    """Algorithm 1, line by line: each day is predicted, lost on, left twice and gone on from."""
    known, recorded = each_day(inputs), each_day(outcomes)
    tomorrows = jax.tree.map(lambda x: jnp.roll(x, -1, 0), (known, recorded))

    def day(state, given):
        today, counts, (tomorrow, following), is_last = given
        expected = crowd.predict(state, today)
        loss = daily(expected, counts)
        free = crowd.advance(state, today, expected, expected.arrivals, expected.behaviors)
        frozen = Inputs(tomorrow.calendar, today.summaries, today.size, tomorrow.effort)
        beyond = daily(crowd.predict(free, frozen), following)
        loss += jnp.where(is_last, 0.0, OBJECTIVE.expected_weight * beyond)
        return crowd.advance(state, today, expected, counts.arrivals, counts.behaviors), loss

    given = (known, recorded, tomorrows, jnp.arange(DAYS) == DAYS - 1)
    _, losses = jax.lax.scan(day, crowd.at_rest(), given)
    return losses.sum() / DAYS + OBJECTIVE.penalty_weight * OBJECTIVE.penalty(crowd)


literal_value = eqx.filter_jit(literal_objective)
literal_gradient = eqx.filter_jit(eqx.filter_value_and_grad(literal_objective))
fast_value = eqx.filter_jit(lambda crowd, *days: OBJECTIVE.train(crowd, *days)[0])


@pytest.mark.parametrize("dim", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_the_fast_objective_equals_the_literal_day_by_day_one(dim):
    with computing():
        crowd, days = random_crowd(7, dim), random_days(7)
        fast, slow = float(fast_value(crowd, *days)), float(literal_value(crowd, *days))
    assert fast == pytest.approx(slow, abs=1e-12)


def test_long_series_carry_over_equals_the_short_kernel(monkeypatch):
    rng = np.random.default_rng(7)
    given = (0.8, rng.normal(size=(1, 2, 3)), rng.normal(size=(12, 2, 3)))
    towards = rng.normal(size=(13, 2, 3))

    def path_and_slopes():
        def carried(*parts):
            path = sweep.carry_over(*parts)
            return (towards * path).sum(), path

        found = jax.jit(jax.grad(carried, (0, 1, 2), has_aux=True))(*map(jnp.asarray, given))
        return jax.tree.leaves(found)

    with computing():
        short = path_and_slopes()
        monkeypatch.setattr(sweep, "LONGEST_KERNEL", 3)
        for kernel, scanned in zip(short, path_and_slopes(), strict=True):
            np.testing.assert_allclose(kernel, scanned, rtol=1e-12, atol=1e-12)


@eqx.filter_jit
def in_two_parts(crowd, inputs, outcomes):
    objective = replace(OBJECTIVE, expected_weight=0.0)
    _, state = objective.train(crowd, inputs.between(0, 4), outcomes.between(0, 4))
    return objective.validate(crowd, inputs.between(4, 6), outcomes.between(4, 6), state)


def test_validation_continues_where_training_ended():
    with computing():
        crowd, (inputs, outcomes) = random_crowd(6), random_days(6)
        ours = float(in_two_parts(crowd, inputs, outcomes))
        whole = observed(crowd, inputs, outcomes).predictions
        told = log_likelihood(whole.patterns, outcomes.patterns)
        each = np.asarray(OBJECTIVE.daily(whole, outcomes, told))
    assert ours == pytest.approx(each[4:].mean(), abs=1e-12)


PARTS = {
    "mixture weights": lambda c: c.population.logits,
    "means": lambda c: c.population.means,
    "factor diagonals": lambda c: c.population.raw_diagonal,
    "factors below the diagonal": lambda c: c.population.below_diagonal,
    "arrival loading": lambda c: c.arrival.loading,
    "dependence": lambda c: c.response.dependence_entries,
    "memory retention": lambda c: c.feedback.carried[0].raw_retention,
    "memory effect": lambda c: c.feedback.carried[0].effect,
    "fatigue retention": lambda c: c.feedback.carried[1].raw_retention,
    "fatigue effect": lambda c: c.feedback.carried[1].effect,
    "shift retention": lambda c: c.feedback.carried[2].raw_retention,
    "rate response": lambda c: c.feedback.carried[2].rate_response,
    "fatigue response": lambda c: c.feedback.carried[2].fatigue_response,
    "environment retention": lambda c: c.feedback.environment.raw_retention,
    "common gain": lambda c: c.feedback.environment.raw_common_gain,
    "unit gain": lambda c: c.feedback.environment.raw_unit_gain,
    "environment effect": lambda c: c.feedback.environment.effect,
}


@pytest.fixture(scope="module")
def two_dimensional():
    """A crowd, its days, and the gradient of the objective as a crowd."""
    with computing():
        crowd, days = random_crowd(12, dim=2), random_days(12)
        free, _ = eqx.partition(crowd, crowd.trainable())
        _, unravel = ravel_pytree(free)
        _, slope = value_and_slope(OBJECTIVE, crowd, *days)
        return crowd, days, unravel(jnp.asarray(slope))


@pytest.mark.parametrize("part", PARTS)
def test_the_gradient_agrees_with_central_differences(two_dimensional, part):
    crowd, days, gradient = two_dimensional
    where, step = PARTS[part], 1e-5
    with computing():
        center = np.asarray(where(crowd))
        ours = np.asarray(where(gradient))
        assert np.abs(ours).max() > 0
        for index in np.ndindex(*center.shape):
            ends = []
            for sign in (1.0, -1.0):
                moved = center.copy()
                moved[index] += sign * step
                there = eqx.tree_at(where, crowd, jnp.asarray(moved))
                ends.append(float(fast_value(there, *days)))
            slope = (ends[0] - ends[1]) / (2 * step)
            assert ours[index] == pytest.approx(slope, abs=1e-8, rel=1e-6)


@pytest.mark.parametrize(
    "dim", [2, pytest.param(1, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)]
)
def test_objective_and_gradient_equal_those_of_the_literal_day_by_day_one(dim):
    with computing():
        crowd, days = random_crowd(7, dim), random_days(7)
        fast, slope = value_and_slope(OBJECTIVE, crowd, *days)
        slow, gradient = literal_gradient(crowd, *days)
        free, _ = eqx.partition(gradient, crowd.trainable())
        expected = np.asarray(ravel_pytree(free)[0])
    assert fast == pytest.approx(float(slow), abs=1e-12)
    np.testing.assert_allclose(slope, expected, atol=1e-11)


def test_count_loss_is_scipys_negative_binomial():
    with computing():
        crowd, (inputs, outcomes) = random_crowd(2), random_days(2)
        found = observed(crowd, inputs, outcomes).predictions
        ours = np.asarray(jax.jit(lambda f, o: count_loss(f, o, 50.0))(found, outcomes))
        mean, recorded = np.asarray(found.arrivals), np.asarray(outcomes.arrivals)
    log_probability = nbinom.logpmf(recorded, 50.0, 50.0 / (50.0 + mean))
    log_probability[mean == 0] = 0.0
    np.testing.assert_allclose(ours, -log_probability.mean((1, 2)), rtol=1e-12)


def test_behavior_loss_divides_by_the_days_events_and_survives_empty_days():
    with computing():
        patterns = np.array(random_days(2)[1].patterns)
        patterns[:, 2] = 0.0
        empty = Outcomes.recorded(patterns, 50.0)
        q = np.random.default_rng(0).dirichlet(np.ones(8), (6, 3, 2))
        told = log_likelihood(jnp.asarray(np.moveaxis(q, -1, 0)), empty.patterns)
        ours = np.asarray(behavior_loss(told, empty))
    counts = np.moveaxis(patterns, 0, -1)
    for t in range(6):
        expected = -(counts[t] * np.log(q[t])).sum() / max(1.0, counts[t].sum())
        assert ours[t] == pytest.approx(expected, abs=1e-13)
    assert ours[2] == 0.0


def test_the_regulariser_is_a_mean_square_over_its_parameters():
    with computing():
        crowd = random_crowd(1)
        plain, harder = objective(), objective(behavior_penalty=2.0)
        penalty, higher = (float(of.penalty(crowd)) for of in (plain, harder))
        departure = np.asarray(crowd.population.scale_departure())
        crowd = jax.tree.map(np.asarray, crowd)
    memory, fatigue, shift = crowd.feedback.carried
    of_behavior = [
        crowd.response.feature_effect,
        memory.effect,
        fatigue.effect,
        crowd.feedback.environment.effect,
    ]
    others = [
        crowd.response.free_loading,
        crowd.response.dependence_entries,
        crowd.arrival.feature_effect,
        crowd.arrival.loading,
        shift.rate_response,
        shift.fatigue_response,
        departure,
    ]
    flat = np.concatenate([np.ravel(part) for part in (*of_behavior, *others)])
    assert penalty == pytest.approx((flat**2).mean(), rel=1e-12)
    extra = sum((part**2).sum() for part in of_behavior) / len(flat)
    assert higher - penalty == pytest.approx(extra, rel=1e-10)
