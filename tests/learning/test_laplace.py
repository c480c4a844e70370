"""What the parameters do not know."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dgd
from dgd.learning.laplace import expectations, held_information, information, parameter_draws
from dgd.model import negative_binomial
from dgd.model.sweep import observe
from dgd.runtime import computing
from support.effort_worlds import elastic_world, scattered_effort
from support.random_crowds import random_crowd, random_days

R = np.array([20.0, 80.0])


@pytest.fixture(scope="module")
def crowd():
    with computing():
        return random_crowd(3)


def test_expectations_are_those_of_the_observed_branch(crowd):
    with computing():
        inputs, outcomes = random_days(3)
        mean, patterns = expectations(crowd, inputs, outcomes)
        sweep = eqx.filter_jit(observe)(crowd, inputs, outcomes, crowd.at_rest())
        np.testing.assert_allclose(mean, sweep.predictions.arrivals, rtol=1e-12)
        np.testing.assert_allclose(patterns, sweep.predictions.patterns, rtol=1e-10)


def test_the_score_is_the_gradient_of_the_log_likelihood(crowd):
    with computing():
        inputs, outcomes = random_days(3)
        free, fixed = eqx.partition(crowd, crowd.trainable())
        center, unravel = jax.flatten_util.ravel_pytree(free)

        @jax.jit
        def likelihood(vector):
            mean, q = expectations(eqx.combine(unravel(vector), fixed), inputs, outcomes)
            r = jnp.broadcast_to(jnp.asarray(R)[None, None], mean.shape)
            possible = mean > 0
            counts = negative_binomial.log_probability(
                outcomes.arrivals, jnp.where(possible, mean, 1.0), r
            )
            told = (outcomes.patterns * jnp.log(q)).sum()
            return jnp.where(possible, counts, 0.0).sum() + told

        expected = np.asarray(jax.grad(likelihood)(center))
        found, known = information(crowd, inputs, outcomes, jnp.asarray(R))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert np.linalg.eigvalsh(np.asarray(known)).min() > -1e-8


def test_draws_scatter_around_the_trained_parameters_and_stay_finite(crowd):
    with computing():
        inputs, outcomes = random_days(3)
        drawn = parameter_draws(crowd, inputs, outcomes, R, 40, np.random.default_rng(1))
        again = parameter_draws(crowd, inputs, outcomes, R, 40, np.random.default_rng(1))
        for one in drawn[:5]:
            assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(one))
            mean, patterns = expectations(one, inputs, outcomes)
            assert np.isfinite(mean).all()
            np.testing.assert_allclose(patterns.sum(0), 1.0, atol=1e-12)
    for left, right in zip(jax.tree.leaves(drawn[7]), jax.tree.leaves(again[7]), strict=True):
        np.testing.assert_array_equal(left, right)
    loadings = np.array([np.asarray(one.arrival.loading) for one in drawn])
    assert (np.abs(loadings.mean(0) - np.asarray(crowd.arrival.loading)) < 0.2).all()
    assert (loadings.std(0) > 0.02).all()


def test_what_was_measured_is_never_drawn(crowd):
    with computing():
        (one,) = parameter_draws(crowd, *random_days(3), 50.0, 1, np.random.default_rng(1))
    np.testing.assert_array_equal(one.reference.log_baseline, crowd.reference.log_baseline)


def test_a_fit_draws_the_same_for_the_same_seed_around_all_its_own(fit):
    drawn, again, other = (fit.parameter_draws(3, seed=seed) for seed in (3, 3, 4))
    assert len(drawn) == 3
    leaves = [np.asarray(x.arrival.loading) for x in (drawn[2], again[2], other[2])]
    np.testing.assert_array_equal(leaves[0], leaves[1])
    assert np.abs(leaves[0] - leaves[2]).max() > 0
    with pytest.raises(dgd.InputError, match="draws is 0"):
        fit.parameter_draws(0)


def test_what_training_holds_is_known_the_better(fit):
    crowd = fit.crowds[0]
    with computing():
        _, outcomes = fit._recorded
        pull, held = held_information(crowd, outcomes, fit.settings.objective)
        firm, _ = held_information(crowd, outcomes, dgd.DGD(penalty_weight=0.01).objective)
    assert np.linalg.eigvalsh(np.asarray(held)).min() > -1e-8
    np.testing.assert_allclose(firm, 10 * np.asarray(pull), rtol=1e-9, atol=1e-12)


def elasticities(days: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """What a fit finds, and how far its draws scatter."""
    panel = dgd.simulate(elastic_world(0.5), days, seed, effort=scattered_effort(days, seed)).panel
    dates = panel.dates
    fit = dgd.DGD(epochs=150, start="training").fit(
        panel, train_end=dates[-15], validation_end=dates[-8], seeds=[1]
    )
    drawn = [crowd.effort.curve(3).elasticity for crowd in fit.parameter_draws(100)]
    return fit.effort_curve.elasticity, np.std(drawn, axis=0)


@pytest.mark.long
def test_draws_scatter_as_far_as_estimates_of_other_draws_of_the_world() -> None:
    found, own = (np.array(x) for x in zip(*(elasticities(84, n) for n in range(12)), strict=True))
    scatter = np.sqrt(((found - 0.5) ** 2).mean())
    assert 0.5 < own.mean() / scatter < 2.0
    _, longer = elasticities(224, 1)
    assert longer.mean() < 0.8 * own.mean()
