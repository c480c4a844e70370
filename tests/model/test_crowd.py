"""Properties of a crowd that hold for every valid set of parameters."""

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

from dgd.model.population.gaussian_mixture import SCALE_FLOOR
from dgd.runtime import computing
from support.compiled import advanced, at_rest, predicted, support_of
from support.random_crowds import random_crowd, random_days

SEEDS = st.integers(0, 10**6)
DAYS = 6


def walked(crowd, inputs, outcomes, recorded):
    """States day by day, under recorded or expected feedback."""
    states = [crowd.at_rest()]
    for t in range(len(outcomes.arrivals)):
        today = inputs.between(t, t + 1)
        expected = predicted(crowd, states[-1], today)
        fed = outcomes.between(t, t + 1) if recorded else expected
        states.append(advanced(crowd, states[-1], today, expected, fed))
    return states


@given(seed=SEEDS, scale=st.floats(0.05, 3.0))
@settings(max_examples=15, deadline=None)
def test_probabilities_sum_to_one_and_counts_stay_within_arrivals(seed, scale):
    with computing():
        crowd, (inputs, _) = random_crowd(seed, scale=scale), random_days(seed)
        found = predicted(crowd, at_rest(crowd, DAYS), inputs)
        arrivals, patterns, behaviors = map(
            np.asarray, (found.arrivals, found.patterns, found.behaviors)
        )
    assert (patterns >= 0).all()
    np.testing.assert_allclose(patterns.sum(0), 1.0, atol=1e-12)
    assert (behaviors >= 0).all()
    assert (behaviors <= arrivals[..., None] * (1 + 1e-12)).all()


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_support_weights_sum_to_one_in_every_dimension(dim):
    with computing():
        support = support_of(random_crowd(1, dim).population)
    assert support.points.shape[-1] == dim
    np.testing.assert_allclose(np.exp(np.asarray(support.log_weights)).sum(-1), 1.0, atol=1e-12)


@eqx.filter_jit
def parts_of(mixture):
    return mixture.weights, mixture.means, mixture.factors


@pytest.mark.parametrize("dim", [1, 2])
def test_nodes_have_the_mixture_mean_and_covariance(dim):
    with computing():
        population = random_crowd(4, dim).population
        points, log_weights = map(np.asarray, support_of(population))
        weights, means, factors = map(np.asarray, parts_of(population))
    node_weights = np.exp(log_weights)[..., None]
    mean = (weights[..., None] * means).sum(1)
    np.testing.assert_allclose((node_weights * points).sum(1), mean, atol=1e-13)
    second = np.einsum("gk,gkij->gij", weights, factors @ factors.swapaxes(-1, -2))
    second += np.einsum("gk,gki,gkj->gij", weights, means, means)
    at_nodes = np.einsum("gn,gni,gnj->gij", np.exp(log_weights), points, points)
    np.testing.assert_allclose(at_nodes, second, atol=1e-12)


def test_factors_are_lower_triangular_with_diagonals_above_the_floor():
    with computing():
        factors = np.asarray(parts_of(random_crowd(2, dim=3, scale=5.0).population)[2])
    assert (np.diagonal(factors, axis1=-2, axis2=-1) > SCALE_FLOOR).all()
    assert (np.triu(factors, 1) == 0).all()


def test_one_dimensional_integrals_agree_with_scipy():
    """Arrivals and the first behaviour's rate by adaptive quadrature over the mixture."""
    unit, cohort = 1, 1
    with computing():
        crowd, (inputs, _) = random_crowd(11, nodes=40), random_days(11, 1)
        found = predicted(crowd, crowd.at_rest(), inputs)
        arrivals, rates = np.asarray(found.arrivals), np.asarray(found.rates)
        weights, means, factors = map(np.asarray, parts_of(crowd.population))
        arrival, response, reference, known = jax.tree.map(
            np.asarray, (crowd.arrival, crowd.response, crowd.reference, inputs)
        )
    features = np.r_[known.calendar[0, unit, cohort], known.summaries[0, unit, cohort]]
    drive = reference.log_baseline[unit, cohort] + arrival.intercept[unit, cohort]
    drive += features @ arrival.feature_effect
    logit = response.unit_intercept[unit, 0] + response.cohort_intercept[cohort, 0]
    logit += features @ response.feature_effect[:, 0]
    people = known.size[0, unit, cohort] * known.effort[0, unit, cohort]

    def contact(u):
        types = weights[cohort] * norm.pdf(u, means[cohort, :, 0], factors[cohort, :, 0, 0])
        return types.sum() * np.exp(drive + arrival.loading[0] * u)

    total = integrate.quad(contact, -12, 12, epsabs=1e-13)[0]
    clicked = integrate.quad(lambda u: contact(u) * expit(logit + u), -12, 12, epsabs=1e-13)[0]
    assert arrivals[0, unit, cohort] == pytest.approx(people * total, rel=1e-9)
    assert rates[0, unit, cohort, 0] == pytest.approx(clicked / total, rel=1e-9)


def test_zero_effort_gives_no_arrivals_and_the_limit_of_probabilities():
    with computing():
        crowd, (inputs, _) = random_crowd(3), random_days(3)
        none, little = (
            predicted(
                crowd,
                at_rest(crowd, DAYS),
                eqx.tree_at(lambda i: i.effort, inputs, jnp.asarray(np.full(inputs.size.shape, x))),
            )
            for x in (0.0, 1e-9)
        )
        assert (np.asarray(none.arrivals) == 0).all()
        assert (np.asarray(none.behaviors) == 0).all()
    np.testing.assert_allclose(none.patterns, little.patterns, rtol=1e-12)


def test_log_intensity_is_clipped():
    with computing():
        crowd, (inputs, _) = random_crowd(3), random_days(3, 1)
        for level, bound in ((100.0, 10.0), (-100.0, -16.0)):
            intercept = jnp.asarray(np.full(crowd.arrival.intercept.shape, level))
            pushed = eqx.tree_at(lambda c: c.arrival.intercept, crowd, intercept)
            arrivals = predicted(pushed, crowd.at_rest(), inputs).arrivals
            expected = np.asarray(inputs.size) * np.asarray(inputs.effort) * np.exp(bound)
            np.testing.assert_allclose(arrivals, expected, rtol=1e-12)


@given(seed=SEEDS, scale=st.floats(0.1, 4.0), recorded=st.booleans())
@settings(max_examples=10, deadline=None)
def test_states_stay_within_their_bounds(seed, scale, recorded):
    """Memory and fatigue in [0, 1], unit states sum to zero, shift within appendix C's bound."""
    with computing():
        crowd = random_crowd(seed, scale=scale)
        states = walked(crowd, *random_days(seed), recorded)
        states = jax.tree.map(np.asarray, states)
        shift = jax.tree.map(np.asarray, crowd.feedback.carried[2])
    retention = expit(shift.raw_retention)
    most = np.abs(shift.rate_response).sum(0).max() + np.abs(shift.fatigue_response).max()
    for t, state in enumerate(states):
        for name in ("memory", "fatigue"):
            assert (state.carried[name] >= 0).all()
            assert (state.carried[name] <= 1).all()
        assert abs(state.environment.unit.sum()) < 1e-12
        bound = most * (1 - retention**t) / (1 - retention)
        assert np.abs(state.carried["shift"]).max() <= bound * (1 + 1e-12)


def test_expected_feedback_lets_arrival_states_decay():
    with computing():
        crowd, (inputs, _) = random_crowd(8), random_days(8, 1)
        common, unit = np.array([0.7]), np.array([[0.5, -0.2, -0.3]])
        state = eqx.tree_at(
            lambda s: (s.environment.common, s.environment.unit),
            crowd.at_rest(),
            (jnp.asarray(common), jnp.asarray(unit)),
        )
        expected = predicted(crowd, state, inputs)
        following = advanced(crowd, state, inputs, expected, expected).environment
        retention = expit(float(crowd.feedback.environment.raw_retention))
    np.testing.assert_allclose(following.common, retention * common, rtol=1e-12)
    np.testing.assert_allclose(following.unit, retention * unit, rtol=1e-12)


def test_inactive_units_do_not_enter_the_mean_innovation():
    with computing():
        crowd, (inputs, outcomes) = random_crowd(5), random_days(5)
        today, recorded = inputs.between(1, 2), outcomes.between(1, 2)
        assert today.active[0].tolist() == [0.0, 1.0, 1.0]
        expected = predicted(crowd, crowd.at_rest(), today)
        following = advanced(crowd, crowd.at_rest(), today, expected, recorded)
        common = float(following.environment.common[0])
        gain = expit(float(crowd.feedback.environment.raw_common_gain))
        found, counts = np.asarray(expected.arrivals), np.asarray(recorded.arrivals)
    log_ratio = np.log1p(counts.sum(-1)) - np.log1p(found.sum(-1))
    assert common == pytest.approx(gain * log_ratio[0, 1:].mean(), rel=1e-12)


def test_first_loading_is_the_first_unit_vector():
    with computing():
        loading = np.asarray(random_crowd(1, dim=3).response.loading)
    assert loading[0].tolist() == [1.0, 0.0, 0.0]


def test_the_state_starts_at_zero():
    with computing():
        leaves = jax.tree.leaves(random_crowd(1).at_rest())
    assert len(leaves) == 5
    assert not any(np.asarray(leaf).any() for leaf in leaves)
