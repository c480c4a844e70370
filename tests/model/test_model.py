"""Properties of the model that hold for every valid set of parameters."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy.special import expit
from scipy.stats import norm

from dgd.model.feedback import State
from dgd.model.population import SCALE_FLOOR
from dgd.runtime import computing
from support.random_crowds import random_days, random_crowd

SEEDS = st.integers(0, 10**6)


@eqx.filter_jit
def rollout(model, inputs, outcomes, days, observed):
    """States and predictions day by day, under recorded or expected feedback."""
    state, states, predictions = model.initial_state(), [], []
    for t in range(days):
        today = inputs.between(t, t + 1)
        prediction = model.predict(state, today)
        states.append(state)
        predictions.append(prediction)
        fed = outcomes.between(t, t + 1) if observed else prediction
        state = model.advance(state, today, prediction, fed.arrivals, fed.behaviors)
    return [*states, state], predictions


@given(seed=SEEDS, scale=st.floats(0.05, 3.0))
@settings(max_examples=15, deadline=None)
def test_probabilities_sum_to_one_and_counts_stay_within_arrivals(seed, scale):
    with computing():
        model, (inputs, _) = random_crowd(seed, scale=scale), random_days(seed)
        state = jax.tree.map(lambda x: jnp.repeat(x, 6, 0), model.initial_state())
        prediction = eqx.filter_jit(type(model).predict)(model, state, inputs)
        assert (prediction.patterns >= 0).all()
        np.testing.assert_allclose(prediction.patterns.sum(0), 1.0, atol=1e-12)
        assert (prediction.behaviors >= 0).all()
        assert (prediction.behaviors <= prediction.arrivals[..., None] * (1 + 1e-12)).all()


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_support_weights_sum_to_one_in_every_dimension(dim):
    with computing():
        support = random_crowd(1, dim).population.support()
        assert support.points.shape[-1] == dim
        np.testing.assert_allclose(np.exp(support.log_weights).sum(-1), 1.0, atol=1e-12)


@pytest.mark.parametrize("dim", [1, 2])
def test_nodes_have_the_mixture_mean_and_covariance(dim):
    with computing():
        population = random_crowd(4, dim).population
        points, log_weights = map(np.asarray, population.support())
        parts = (population.weights, population.means, population.factors)
        weights, means, factors = map(np.asarray, parts)
    node_weights = np.exp(log_weights)[..., None]
    mean = (weights[..., None] * means).sum(1)
    np.testing.assert_allclose((node_weights * points).sum(1), mean, atol=1e-13)
    second = np.einsum("gk,gkij->gij", weights, factors @ factors.swapaxes(-1, -2))
    second += np.einsum("gk,gki,gkj->gij", weights, means, means)
    at_nodes = np.einsum("gn,gni,gnj->gij", np.exp(log_weights), points, points)
    np.testing.assert_allclose(at_nodes, second, atol=1e-12)


def test_factors_are_lower_triangular_with_diagonals_above_the_floor():
    with computing():
        factors = np.asarray(random_crowd(2, dim=3, scale=5.0).population.factors)
    assert (np.diagonal(factors, axis1=-2, axis2=-1) > SCALE_FLOOR).all()
    np.testing.assert_array_equal(np.triu(factors, 1), 0.0)


def test_one_dimensional_integrals_agree_with_scipy():
    """Arrivals and the first behaviour's rate by adaptive quadrature over the mixture."""
    with computing():
        model, (inputs, _) = random_crowd(11, nodes=40), random_days(11, 1)
        state = model.initial_state()
        prediction = model.predict(state, inputs)
        weights, means = map(np.asarray, (model.population.weights, model.population.means))
        scales = np.asarray(model.population.factors)[..., 0, 0]
        unit, cohort = 1, 1
        features = np.asarray(inputs.features)[0, unit, cohort]
        drive = model.reference.log_baseline[unit, cohort] + model.arrival.intercept[unit, cohort]
        drive = float(drive + features @ model.arrival.feature_effect)
        loading = float(model.arrival.loading[0])
        logit = model.behavior.unit_intercept[unit, 0] + model.behavior.cohort_intercept[cohort, 0]
        logit = float(logit + features @ model.behavior.feature_effect[:, 0])
        people = float(inputs.size[0, unit, cohort] * inputs.effort[0, unit, cohort])
        arrivals = float(prediction.arrivals[0, unit, cohort])
        rate = float(prediction.rates[0, unit, cohort, 0])

    def density(u):
        return (weights[cohort] * norm.pdf(u, means[cohort, :, 0], scales[cohort])).sum()

    def contact(u):
        return density(u) * np.exp(drive + loading * u)

    total = integrate.quad(contact, -12, 12, epsabs=1e-13)[0]
    clicked = integrate.quad(lambda u: contact(u) * expit(logit + u), -12, 12, epsabs=1e-13)[0]
    assert arrivals == pytest.approx(people * total, rel=1e-9)
    assert rate == pytest.approx(clicked / total, rel=1e-9)


def test_zero_effort_gives_no_arrivals_and_the_limit_of_probabilities():
    with computing():
        model, (inputs, _) = random_crowd(3), random_days(3)
        state = jax.tree.map(lambda x: jnp.repeat(x, 6, 0), model.initial_state())

        def at(effort):
            return model.predict(state, eqx.tree_at(lambda i: i.effort, inputs, effort))

        none = at(jnp.zeros_like(inputs.effort))
        little = at(jnp.full_like(inputs.effort, 1e-9))
        np.testing.assert_array_equal(none.arrivals, 0.0)
        np.testing.assert_array_equal(none.behaviors, 0.0)
        np.testing.assert_allclose(none.patterns, little.patterns, rtol=1e-13)


def test_log_intensity_is_clipped():
    with computing():
        model, (inputs, _) = random_crowd(3), random_days(3, 1)
        for level, bound in ((100.0, 10.0), (-100.0, -16.0)):
            intercept = jnp.full_like(model.arrival.intercept, level)
            pushed = eqx.tree_at(lambda m: m.arrival.intercept, model, intercept)
            arrivals = pushed.predict(model.initial_state(), inputs).arrivals
            expected = inputs.size * inputs.effort * np.exp(bound)
            np.testing.assert_allclose(arrivals, expected, rtol=1e-12)


@given(seed=SEEDS, scale=st.floats(0.1, 4.0), observed=st.booleans())
@settings(max_examples=10, deadline=None)
def test_states_stay_within_their_bounds(seed, scale, observed):
    """Memory and fatigue in [0, 1], unit states sum to zero, shift within appendix C's bound."""
    days = 5
    with computing():
        model = random_crowd(seed, scale=scale)
        inputs, outcomes = random_days(seed, days)
        states, _ = rollout(model, inputs, outcomes, days, observed)
        feedback = model.feedback
        retention = float(feedback.shift_retention)
        most = float(np.abs(feedback.rate_response).sum(0).max())
        most += float(np.abs(feedback.fatigue_response).max())
    for t, state in enumerate(states):
        for share in (state.memory, state.fatigue):
            assert (np.asarray(share) >= 0).all()
            assert (np.asarray(share) <= 1).all()
        assert abs(np.asarray(state.unit).sum()) < 1e-12
        bound = most * (1 - retention**t) / (1 - retention)
        assert np.abs(state.shift).max() <= bound * (1 + 1e-12)


def test_expected_feedback_lets_arrival_states_decay():
    with computing():
        model, (inputs, _) = random_crowd(8), random_days(8, 1)
        units = jnp.asarray([[0.5, -0.2, -0.3]])
        state = eqx.tree_at(
            lambda s: (s.common, s.unit), model.initial_state(), (jnp.asarray([0.7]), units)
        )
        prediction = model.predict(state, inputs)
        following = model.advance(
            state, inputs, prediction, prediction.arrivals, prediction.behaviors
        )
        retention = float(model.feedback.environment_retention)
    np.testing.assert_allclose(following.common, retention * 0.7, rtol=1e-13)
    np.testing.assert_allclose(following.unit, retention * np.asarray(units), atol=1e-15)


def test_inactive_units_do_not_enter_the_mean_innovation():
    with computing():
        model, (inputs, outcomes) = random_crowd(5), random_days(5)
        today = inputs.between(1, 2)
        assert today.active[0].tolist() == [0.0, 1.0, 1.0]
        state = model.initial_state()
        prediction = model.predict(state, today)
        recorded = outcomes.between(1, 2)
        following = model.advance(state, today, prediction, recorded.arrivals, recorded.behaviors)
        gain = float(model.feedback.common_gain)
        log_ratio = np.log1p(recorded.arrivals.sum(-1)) - np.log1p(prediction.arrivals.sum(-1))
    assert float(following.common[0]) == pytest.approx(gain * float(log_ratio[0, 1:].mean()))


def test_first_loading_is_the_first_unit_vector():
    with computing():
        loading = random_crowd(1, dim=3).behavior.loading
    np.testing.assert_array_equal(loading[0], [1.0, 0.0, 0.0])


def test_state_starts_at_zero():
    with computing():
        leaves = jax.tree.leaves(State.zero(3, 2, 3, 1))
    assert all((np.asarray(leaf) == 0).all() for leaf in leaves)
