"""Appendices B and C on random models: what the paper proves must come out."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from dgd.diagnostics.bounds import gradient_errors, probability_errors
from dgd.diagnostics.propagation import expected_update, limits, propagate
from dgd.diagnostics.tilting import join, separate, who_is_seen, who_is_there
from dgd.model.days import Inputs
from dgd.model.population import SupportPoints, matched_points
from dgd.model.readout import Separated
from dgd.model.sweep import observe
from dgd.runtime import computing
from support.random_crowds import BEHAVIORS, COHORTS, UNITS, random_days, random_crowd

SEEDS = st.integers(0, 10_000)
observed = eqx.filter_jit(
    lambda model, inputs, outcomes: observe(model, inputs, outcomes, model.initial_state())
)


def random_state(model, seed, days=1):
    """Any state a path can pass through: memory and fatigue in [0, 1], units centred."""
    rng = np.random.default_rng(seed + 2000)
    zero = model.initial_state()
    unit = rng.normal(size=(days, UNITS))
    return replace(
        zero,
        shift=jnp.asarray(rng.normal(size=(days, *zero.shift.shape[1:]))),
        memory=jnp.asarray(rng.uniform(size=(days, COHORTS, BEHAVIORS))),
        fatigue=jnp.asarray(rng.uniform(size=(days, COHORTS))),
        common=jnp.asarray(rng.normal(size=days)),
        unit=jnp.asarray(unit - unit.mean(-1, keepdims=True)),
    )


def each_day(inputs: Inputs) -> list[Inputs]:
    return [inputs.between(t, t + 1) for t in range(len(inputs.size))]


# Appendix B.2: exponential tilting


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_a_tilted_mixture_has_the_tilted_density(seed):
    """Against numerical integration of exp(gamma u) P(u), which knows no mixture."""
    with computing():
        model = random_crowd(seed, scale=0.7)
        loading = float(model.arrival.loading[0])
        there, seen = (
            tuple(
                np.asarray(x)[0].squeeze(-1) if np.ndim(x) == 3 else np.asarray(x)[0]
                for x in of.types()
            )
            for of in (model.population, who_is_seen(model))
        )
        log_moment = float(model.population.log_moment(model.arrival.loading)[0])

    def density(u, types):
        share, mean, spread = types
        return float((share * norm.pdf(u, mean, spread)).sum())

    mass, _ = quad(lambda u: np.exp(loading * u) * density(u, there), -30, 30, limit=200)
    assert log_moment == pytest.approx(np.log(mass), abs=1e-9)
    for u in (-2.0, -0.3, 0.0, 0.8, 2.5):
        expected = np.exp(loading * u) * density(u, there) / mass
        assert density(u, seen) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("seed", [1, 2])
def test_tilting_back_undoes_it(dim, seed):
    with computing():
        model = random_crowd(seed, dim=dim)
        for population in (model.population, matched_points(model.population)):
            loading = model.arrival.loading
            again = population.tilted(loading).tilted(-loading)
            for ours, theirs in zip(again.types(), population.types(), strict=True):
                np.testing.assert_allclose(ours, theirs, atol=1e-13)
            sum_of_moments = population.log_moment(loading) + population.tilted(loading).log_moment(
                -loading
            )
            np.testing.assert_allclose(sum_of_moments, 0.0, atol=1e-13)


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS)
def test_a_separated_readout_predicts_the_same_on_every_day(seed):
    """At many nodes, to 1e-10: arrivals, probabilities, and the states they lead to."""
    with computing():
        model = random_crowd(seed, nodes=61)
        inputs, outcomes = random_days(seed)
        weighted, apart = (observed(m, inputs, outcomes) for m in (model, separate(model)))
    np.testing.assert_allclose(
        apart.predictions.arrivals, weighted.predictions.arrivals, rtol=1e-10
    )
    np.testing.assert_allclose(
        apart.predictions.patterns, weighted.predictions.patterns, atol=1e-10
    )
    for ours, theirs in zip(
        jax.tree.leaves(apart.final), jax.tree.leaves(weighted.final), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


@pytest.mark.parametrize("seed", [3, 4])
def test_expected_paths_stay_equal_for_any_horizon(seed):
    with computing():
        model = random_crowd(seed, nodes=61)
        apart, state = separate(model), random_state(model, seed)
        other = state
        for inputs in each_day(random_days(seed)[0]):
            state, other = (
                expected_update(model, state, inputs),
                expected_update(apart, other, inputs),
            )
        for ours, theirs in zip(jax.tree.leaves(other), jax.tree.leaves(state), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-10)


def test_two_dimensions_and_discrete_points_separate_too():
    with computing():
        plane = random_crowd(5, dim=2, nodes=31)
        points = replace(random_crowd(6), population=matched_points(random_crowd(6).population))
        for model, tolerance in ((plane, 1e-10), (points, 1e-14)):
            inputs, outcomes = random_days(7)
            ours, theirs = (
                observed(m, inputs, outcomes).predictions for m in (separate(model), model)
            )
            np.testing.assert_allclose(ours.patterns, theirs.patterns, atol=tolerance)
            np.testing.assert_allclose(ours.arrivals, theirs.arrivals, rtol=max(tolerance, 1e-12))
        assert isinstance(who_is_seen(points), SupportPoints)


@pytest.mark.parametrize("seed", [1, 8])
def test_any_separated_model_can_be_joined(seed):
    """Also one whose two populations have nothing to do with each other."""
    with computing():
        model = random_crowd(seed, nodes=61)
        apart = replace(model, readout=Separated(random_crowd(seed + 50, nodes=61).population))
        one = join(apart)
        inputs, outcomes = random_days(seed)
        ours, theirs = (observed(m, inputs, outcomes).predictions for m in (one, apart))
        np.testing.assert_allclose(ours.patterns, theirs.patterns, atol=1e-10)
        np.testing.assert_allclose(ours.arrivals, theirs.arrivals, rtol=1e-10)
        back = join(separate(model))
        for ours, theirs in zip(jax.tree.leaves(back), jax.tree.leaves(model), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)
        np.testing.assert_allclose(who_is_there(apart).means, one.population.means, atol=0)


# Appendix C.1: positive-weight quadrature


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_positive_weights_keep_probabilities_and_counts_in_range(seed):
    with computing():
        model = random_crowd(seed, scale=1.5)
        found = observed(model, *random_days(seed)).predictions
        arrivals, patterns = np.asarray(found.arrivals), np.asarray(found.patterns)
        behaviors = np.asarray(found.behaviors)
    np.testing.assert_allclose(patterns.sum(0), 1.0, atol=1e-13)
    assert (patterns >= 0).all()
    assert (behaviors >= 0).all()
    assert (behaviors <= arrivals[..., None] * (1 + 1e-12)).all()


def test_components_add_up_to_the_population():
    """Arrivals integrate component by component, weighted by the shares."""
    with computing():
        model, inputs = random_crowd(4), random_days(4)[0].between(0, 1)
        state = model.initial_state()
        whole = np.asarray(model.predict(state, inputs).arrivals)
        shares = np.asarray(model.population.weights)
        parts = np.zeros_like(whole)
        for k in range(shares.shape[1]):
            mixture = model.population
            alone = eqx.tree_at(
                lambda m: (m.logits, m.means, m.raw_diagonal, m.below_diagonal),
                mixture,
                tuple(
                    x[:, k : k + 1]
                    for x in (
                        mixture.logits,
                        mixture.means,
                        mixture.raw_diagonal,
                        mixture.below_diagonal,
                    )
                ),
            )
            part = replace(model, population=alone).predict(state, inputs).arrivals
            parts += shares[:, k][None, None] * np.asarray(part)
    np.testing.assert_allclose(parts, whole, rtol=1e-12)


# Appendix C.2: quadrature error bounds


@pytest.mark.parametrize("readout", ["weighted", "separated"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_errors_stay_within_their_bounds(seed, readout):
    """With three nodes and wide populations the errors are large, and bounded all the same."""
    with computing():
        model = random_crowd(seed, scale=1.0, nodes=3)
        if readout == "separated":
            model = separate(model)
        inputs = random_days(seed)[0].between(0, 2)
        state = random_state(model, seed, days=2)
        exact = model.with_nodes(61)
        last = jax.tree.map(lambda x: x[-1:], (state, inputs))
        found = {
            **probability_errors(model, exact, state, inputs),
            **gradient_errors(model, exact, *last),
        }
    assert set(found) == {
        "probability",
        "log-probability",
        "gradient of probability",
        "gradient of log-probability",
    }
    for error, bound in found.values():
        assert error.max() > 1e-4
        assert (error <= bound * (1 + 1e-9) + 1e-13).all()


def test_a_bound_can_fail():
    """Halved, the probability bound no longer holds: the comparison above has teeth."""
    with computing():
        model = random_crowd(1, scale=1.0, nodes=3)
        inputs, state = random_days(1)[0].between(0, 1), random_state(model, 1)
        error, bound = probability_errors(model, model.with_nodes(61), state, inputs)["probability"]
    assert (error > bound / 2).any()


# Appendix C.3: error propagation and state bounds


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_errors_travel_no_faster_than_the_recursion_allows(seed):
    with computing():
        model = random_crowd(seed, scale=0.8, nodes=3)
        start = random_state(model, seed)
        ahead = each_day(random_days(seed)[0])
        path = list(propagate(model, model.with_nodes(61), start, ahead))
    assert [row["day"] for row in path] == [1, 2, 3, 4, 5, 6]
    assert path[-1]["error"] > 1e-6
    assert all(row["holds"] for row in path)
    assert path[0]["error"] == pytest.approx(path[0]["bound"], rel=1e-9)


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_states_keep_their_bounds_under_expected_feedback(seed):
    with computing():
        model = random_crowd(seed, scale=1.0)
        start = random_state(model, seed)
        ahead = each_day(random_days(seed)[0])
        path = list(limits(model, start, ahead))
        kept = float(model.feedback.environment_retention)
        first = float(abs(start.common[0]))
    assert all(row["holds"] for row in path)
    for row in path:
        assert 0 <= row["memory"] <= 1
        assert 0 <= row["fatigue"] <= 1
        assert row["environment"] == pytest.approx(first * kept ** row["day"], abs=1e-12)
