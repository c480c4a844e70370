"""The fast all-days objective against a literal day-by-day one, and its gradients."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.stats import nbinom

from dgd.learning.objective import Objective, behavior_loss, count_loss
from dgd.model import sweep
from dgd.model.days import Inputs, log_likelihood
from dgd.runtime import computing
from support.random_crowds import random_days, random_crowd

OBJECTIVE = Objective(penalty_weight=0.01, behavior_penalty=3.0, calendar_penalty=2.0)


predict = jax.jit(lambda model, state, inputs: model.predict(state, inputs))
advance = jax.jit(lambda model, *day: model.advance(*day))
daily = jax.jit(
    lambda expected, recorded: OBJECTIVE.daily(
        expected, recorded, (recorded.patterns * jnp.log(expected.patterns)).sum(0)
    )
)


def literal_objective(model, inputs, outcomes):
    """Algorithm 1, line by line."""
    days = len(outcomes.arrivals)
    state, total = model.initial_state(), 0.0
    for t in range(days):
        today, recorded = inputs.between(t, t + 1), outcomes.between(t, t + 1)
        expected = predict(model, state, today)
        total += daily(expected, recorded)[0]
        if t < days - 1:
            free = advance(model, state, today, expected, expected.arrivals, expected.behaviors)
            tomorrow = inputs.between(t + 1, t + 2)
            frozen = Inputs(tomorrow.calendar, today.summaries, today.size, tomorrow.effort)
            following = daily(predict(model, free, frozen), outcomes.between(t + 1, t + 2))
            total += OBJECTIVE.expected_weight * following[0]
        state = advance(model, state, today, expected, recorded.arrivals, recorded.behaviors)
    return total / days + OBJECTIVE.penalty_weight * OBJECTIVE.penalty(model)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_fast_objective_equals_the_literal_day_by_day_one(dim):
    with computing():
        model, days = random_crowd(7, dim), random_days(7)
        all_days = jax.jit(jax.value_and_grad(lambda m: OBJECTIVE.train(m, *days)[0]))
        fast, fast_gradient = all_days(model)
        slow, slow_gradient = jax.value_and_grad(lambda m: literal_objective(m, *days))(model)
        assert float(fast) == pytest.approx(float(slow), abs=1e-12)
        np.testing.assert_allclose(
            ravel_pytree(fast_gradient)[0], ravel_pytree(slow_gradient)[0], atol=1e-11
        )


def test_long_series_carry_over_equals_the_short_kernel(monkeypatch):
    with computing():
        model, days = random_crowd(7), random_days(7, 12)

        def value():
            return float(jax.jit(lambda m: OBJECTIVE.train(m, *days)[0])(model))

        short = value()
        monkeypatch.setattr(sweep, "LONGEST_KERNEL", 3)
        assert value() == pytest.approx(short, abs=1e-12)


def test_validation_continues_where_training_ended():
    with computing():
        model, (inputs, outcomes) = random_crowd(6), random_days(6, 9)

        @jax.jit
        def in_two_parts(m):
            _, state = OBJECTIVE.train(m, inputs.between(0, 5), outcomes.between(0, 5))
            return OBJECTIVE.validate(m, inputs.between(5, 9), outcomes.between(5, 9), state)

        @jax.jit
        def in_one(m):
            whole = sweep.observe(m, inputs, outcomes, m.initial_state())
            told = m.log_likelihood(whole.nodes, whole.predictions, outcomes)
            return OBJECTIVE.daily(whole.predictions, outcomes, told)

        ours, each_day = in_two_parts(model), in_one(model)
        assert float(ours) == pytest.approx(float(each_day[5:].mean()), abs=1e-12)


PARTS = {
    "mixture weights": lambda m: m.population.logits,
    "means": lambda m: m.population.means,
    "factor diagonals": lambda m: m.population.raw_diagonal,
    "factors below the diagonal": lambda m: m.population.below_diagonal,
    "arrival loading": lambda m: m.arrival.loading,
    "dependence": lambda m: m.behavior.dependence_entries,
    "memory retention": lambda m: m.feedback.raw_memory_retention,
    "fatigue retention": lambda m: m.feedback.raw_fatigue_retention,
    "shift retention": lambda m: m.feedback.raw_shift_retention,
    "environment retention": lambda m: m.feedback.raw_environment_retention,
    "common gain": lambda m: m.feedback.raw_common_gain,
    "unit gain": lambda m: m.feedback.raw_unit_gain,
    "rate response": lambda m: m.feedback.rate_response,
    "fatigue response": lambda m: m.feedback.fatigue_response,
}


@pytest.fixture(scope="module")
def two_dimensional():
    with computing():
        model, days = random_crowd(12, dim=2), random_days(12)
        value = jax.jit(lambda m: OBJECTIVE.train(m, *days)[0])
        return model, value, jax.grad(value)(model)


@pytest.mark.parametrize("part", PARTS)
def test_gradient_agrees_with_central_differences(two_dimensional, part):
    model, value, gradient = two_dimensional
    where, step = PARTS[part], 1e-5
    with computing():
        center = np.asarray(where(model))
        ours = np.asarray(where(gradient))
        assert np.abs(ours).max() > 0
        for place in np.ndindex(*center.shape):
            ends = []
            for sign in (1.0, -1.0):
                moved = center.copy()
                moved[place] += sign * step
                ends.append(float(value(eqx.tree_at(where, model, jnp.asarray(moved)))))
            slope = (ends[0] - ends[1]) / (2 * step)
            assert ours[place] == pytest.approx(slope, abs=1e-8, rel=1e-6)


def test_count_loss_is_scipys_negative_binomial():
    with computing():
        model, (inputs, outcomes) = random_crowd(2), random_days(2)
        found = jax.jit(lambda m: sweep.observe(m, inputs, outcomes, m.initial_state()))(
            model
        ).predictions
        ours = count_loss(found, outcomes, 50.0)
        mean, recorded = np.asarray(found.arrivals), np.asarray(outcomes.arrivals)
    log_probability = nbinom.logpmf(recorded, 50.0, 50.0 / (50.0 + mean))
    log_probability[mean == 0] = 0.0
    np.testing.assert_allclose(ours, -log_probability.mean((1, 2)), rtol=1e-12)


def test_behavior_loss_divides_by_the_days_events_and_survives_empty_days():
    with computing():
        _, outcomes = random_days(2)
        empty = replace_day(outcomes, 2)
        q = np.random.default_rng(0).dirichlet(np.ones(8), (6, 3, 2))
        told = log_likelihood(jnp.asarray(np.moveaxis(q, -1, 0)), empty.patterns)
        ours = np.asarray(behavior_loss(told, empty))
        counts = np.moveaxis(np.asarray(empty.patterns), 0, -1)
    for t in range(6):
        expected = -(counts[t] * np.log(q[t])).sum() / max(1.0, counts[t].sum())
        assert ours[t] == pytest.approx(expected, abs=1e-13)
    assert ours[2] == 0.0


def replace_day(outcomes, day):
    patterns = np.array(outcomes.patterns)
    patterns[:, day] = 0.0
    return type(outcomes).recorded(patterns, 50.0)


def test_regulariser_is_a_mean_square_over_its_parameters():
    with computing():
        model = random_crowd(1)
        plain = Objective()
        names = ["feature_effect", "memory_effect", "fatigue_effect", "environment_effect"]
        parts = [getattr(model.behavior, name) for name in names]
        parts += [model.behavior.free_loading, model.behavior.dependence_entries]
        parts += [model.arrival.feature_effect, model.arrival.loading]
        parts += [model.feedback.rate_response, model.feedback.fatigue_response]
        parts += [model.population.scale_departure()]
        flat = np.concatenate([np.ravel(part) for part in parts])
        assert float(plain.penalty(model)) == pytest.approx(float((flat**2).mean()), rel=1e-13)
        harder = replace(plain, behavior_penalty=2.0)
        extra = sum(float((part**2).sum()) for part in parts[:4]) / len(flat)
        difference = float(harder.penalty(model) - plain.penalty(model))
        assert difference == pytest.approx(extra, rel=1e-12)
