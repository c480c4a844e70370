"""Appendices B and C on random crowds: what the paper proves must come out."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from dgd.diagnostics.bounds import gradient_errors, probability_errors
from dgd.diagnostics.propagation import expected_update, limits, propagate
from dgd.diagnostics.tilting import other_form
from dgd.model import Crowd, Inputs, Separated, SupportPoints
from dgd.runtime import computing
from support.compiled import observed, predicted, types_of
from support.random_crowds import BEHAVIORS, COHORTS, UNITS, random_crowd, random_days

SEEDS = st.integers(0, 10_000)
FINE, COARSE = 61, 3
"""Nodes: so many that quadrature is exact to 1e-10, and so few that its errors are large."""

in_other_form = eqx.filter_jit(other_form)
log_moment = eqx.filter_jit(lambda population, loading: population.log_moment(loading))
seen_in = eqx.filter_jit(Crowd.who_is_seen)
there_in = eqx.filter_jit(Crowd.who_is_there)


def random_state(crowd, seed, days=1):
    """Any state a path can pass through: memory and fatigue in [0, 1], units centred."""
    rng = np.random.default_rng(seed + 2000)
    unit = rng.normal(size=(days, UNITS))
    values = {
        "shift": rng.normal(size=(days, *crowd.at_rest().carried["shift"].shape[1:])),
        "memory": rng.uniform(size=(days, COHORTS, BEHAVIORS)),
        "fatigue": rng.uniform(size=(days, COHORTS)),
    }
    return eqx.tree_at(
        lambda s: (s.carried, s.environment.common, s.environment.unit),
        crowd.at_rest(),
        (
            {name: jnp.asarray(value) for name, value in values.items()},
            jnp.asarray(rng.normal(size=days)),
            jnp.asarray(unit - unit.mean(-1, keepdims=True)),
        ),
    )


def random_points(seed, dim=1):
    """Three people per cohort in place of a mixture."""
    rng = np.random.default_rng(seed + 4000)
    logits, points = rng.normal(size=(COHORTS, 3)), rng.normal(size=(COHORTS, 3, dim))
    return SupportPoints(jnp.asarray(logits), jnp.asarray(points))


def each_day(inputs: Inputs) -> list[Inputs]:
    return [inputs.between(t, t + 1) for t in range(len(inputs.size))]


def assert_same_predictions(one, other, tolerance=1e-10):
    np.testing.assert_allclose(one.arrivals, other.arrivals, rtol=max(tolerance, 1e-12))
    np.testing.assert_allclose(one.patterns, other.patterns, atol=tolerance)


def assert_close(one, other, tolerance):
    for ours, theirs in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=tolerance)


# Appendix B.2: exponential tilting


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_a_tilted_mixture_has_the_tilted_density(seed):
    """Against numerical integration of exp(gamma u) P(u), which knows no mixture."""
    with computing():
        crowd = random_crowd(seed, scale=0.7)
        loading = crowd.arrival.loading
        both = (crowd.population, seen_in(crowd))
        there, seen = ([np.asarray(x)[0] for x in types_of(of)] for of in both)
        log_mass = float(log_moment(crowd.population, loading)[0])
        gamma = float(loading[0])

    def density(u, types):
        share, mean, spread = types
        return float((share * norm.pdf(u, mean[:, 0], spread[:, 0])).sum())

    mass, _ = quad(lambda u: np.exp(gamma * u) * density(u, there), -30, 30, limit=200)
    assert log_mass == pytest.approx(np.log(mass), abs=1e-9)
    for u in (-2.0, -0.3, 0.0, 0.8, 2.5):
        expected = np.exp(gamma * u) * density(u, there) / mass
        assert density(u, seen) == pytest.approx(expected, rel=1e-8)


@eqx.filter_jit
def there_and_back(population, loading):
    """Types before and after tilting both ways, and the sum of the two log-moments."""
    there = population.tilted(loading)
    total = population.log_moment(loading) + there.log_moment(-loading)
    return population.types(), there.tilted(-loading).types(), total


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_tilting_back_undoes_it(dim):
    for seed in (1, 2):
        with computing():
            crowd = random_crowd(seed, dim=dim)
            for population in (crowd.population, random_points(seed, dim)):
                before, after, total = there_and_back(population, crowd.arrival.loading)
                assert_close(after, before, 1e-13)
                np.testing.assert_allclose(total, 0.0, atol=1e-13)


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS)
def test_a_separated_readout_predicts_the_same_on_every_day(seed):
    """At many nodes, to 1e-10: arrivals, probabilities, and the states they lead to."""
    with computing():
        crowd, days = random_crowd(seed, nodes=FINE), random_days(seed)
        weighted, apart = (observed(c, *days) for c in (crowd, in_other_form(crowd)))
    assert_same_predictions(apart.predictions, weighted.predictions)
    assert_close(apart.final, weighted.final, 1e-10)


@pytest.mark.parametrize("seed", [3, 4])
def test_expected_paths_stay_equal_for_any_horizon(seed):
    with computing():
        crowd = random_crowd(seed, nodes=FINE)
        apart, state = in_other_form(crowd), random_state(crowd, seed)
        other = state
        for inputs in each_day(random_days(seed)[0]):
            state = expected_update(crowd, state, inputs)
            other = expected_update(apart, other, inputs)
        assert_close(other, state, 1e-10)


def test_discrete_points_separate_without_any_error():
    with computing():
        crowd, days = replace(random_crowd(6), population=random_points(6)), random_days(7)
        apart = in_other_form(crowd)
        ours, theirs = (observed(c, *days).predictions for c in (apart, crowd))
    assert isinstance(apart.readout.population, SupportPoints)
    assert_same_predictions(ours, theirs, 1e-14)


def test_a_population_in_two_dimensions_separates_too():
    with computing():
        crowd, day = random_crowd(5, dim=2, nodes=31), random_days(7, 1)[0]
        ours, theirs = (predicted(c, crowd.at_rest(), day) for c in (in_other_form(crowd), crowd))
    assert_same_predictions(ours, theirs)


@pytest.mark.parametrize("seed", [1, 8])
def test_any_separated_crowd_can_be_written_weighted_by_arrivals(seed):
    """Also one whose two populations have nothing to do with each other."""
    with computing():
        crowd, days = random_crowd(seed, nodes=FINE), random_days(seed)
        apart = replace(crowd, readout=Separated(random_crowd(seed + 50, nodes=FINE).population))
        one = in_other_form(apart)
        ours, theirs = (observed(c, *days).predictions for c in (one, apart))
        there = there_in(apart)
    assert_same_predictions(ours, theirs)
    np.testing.assert_allclose(there.means, one.population.means, rtol=1e-12)


@pytest.mark.parametrize("seed", [1, 8])
def test_the_other_form_of_the_other_form_is_the_crowd_itself(seed):
    with computing():
        crowd = random_crowd(seed, nodes=FINE)
        assert_close(in_other_form(in_other_form(crowd)), crowd, 1e-12)


# Appendix C.1: positive-weight quadrature


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_positive_weights_keep_probabilities_and_counts_in_range(seed):
    with computing():
        crowd = random_crowd(seed, scale=1.5, nodes=FINE)
        found = observed(crowd, *random_days(seed)).predictions
        arrivals, patterns = np.asarray(found.arrivals), np.asarray(found.patterns)
        behaviors = np.asarray(found.behaviors)
    np.testing.assert_allclose(patterns.sum(0), 1.0, atol=1e-12)
    assert (patterns >= 0).all()
    assert (behaviors >= 0).all()
    assert (behaviors <= arrivals[..., None] * (1 + 1e-12)).all()


def test_components_add_up_to_the_population():
    """Arrivals integrate component by component, weighted by the shares."""
    with computing():
        crowd, inputs = random_crowd(4), random_days(4)[0].between(0, 1)
        whole = np.asarray(predicted(crowd, crowd.at_rest(), inputs).arrivals)
        shares, parts = np.asarray(types_of(crowd.population).share), np.zeros_like(whole)
        for k in range(shares.shape[1]):
            alone = jax.tree.map(lambda x, k=k: x[:, k : k + 1], crowd.population)
            part = replace(crowd, population=alone)
            found = np.asarray(predicted(part, crowd.at_rest(), inputs).arrivals)
            parts += shares[:, k][None, None] * found
    np.testing.assert_allclose(parts, whole, rtol=1e-12)


# Appendix C.2: quadrature error bounds


@pytest.mark.parametrize("readout", ["weighted", "separated"])
def test_errors_stay_within_their_bounds(readout):
    """With three nodes and wide populations the errors are large, and bounded all the same."""
    for seed in (1, 2, 3):
        with computing():
            crowd = random_crowd(seed, scale=1.0, nodes=COARSE)
            if readout == "separated":
                crowd = in_other_form(crowd)
            inputs = random_days(seed)[0].between(0, 1)
            given_day = (crowd, crowd.with_nodes(FINE), random_state(crowd, seed), inputs)
            found = {**probability_errors(*given_day), **gradient_errors(*given_day)}
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
        crowd = random_crowd(1, scale=1.0, nodes=COARSE)
        inputs, state = random_days(1)[0].between(0, 1), random_state(crowd, 1)
        found = probability_errors(crowd, crowd.with_nodes(FINE), state, inputs)
    error, bound = found["probability"]
    assert (error > bound / 2).any()


# Appendix C.3: error propagation and state bounds


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_errors_travel_no_faster_than_the_recursion_allows(seed):
    with computing():
        crowd = random_crowd(seed, scale=0.8, nodes=COARSE)
        start = random_state(crowd, seed)
        ahead = each_day(random_days(seed)[0])
        path = list(propagate(crowd, crowd.with_nodes(FINE), start, ahead))
    assert [row["day"] for row in path] == [1, 2, 3, 4, 5, 6]
    assert path[-1]["error"] > 1e-6
    assert all(row["holds"] for row in path)
    assert path[0]["error"] == pytest.approx(path[0]["bound"], rel=1e-9)


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_states_keep_their_bounds_under_expected_feedback(seed):
    with computing():
        crowd = random_crowd(seed, scale=1.0, nodes=FINE)
        start = random_state(crowd, seed)
        path = list(limits(crowd, start, each_day(random_days(seed)[0])))
        kept = expit(float(crowd.feedback.environment.raw_retention))
        first = abs(float(start.environment.common[0]))
    assert {row["state"] for row in path} == {"memory", "fatigue", "shift", "environment"}
    assert len(path) == 6 * 4
    assert all(row["holds"] for row in path)
    for row in path:
        if row["state"] in ("memory", "fatigue"):
            assert row["bound"] == 1.0
        if row["state"] == "environment":
            assert row["largest"] == pytest.approx(first * kept ** row["day"], abs=1e-12)
