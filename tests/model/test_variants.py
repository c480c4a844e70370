"""Variants are parts plugged into the same model: every one goes the same way."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import dgd
from dgd.diagnostics.gradients import value_and_slope
from dgd.learning.building import RECORDED
from dgd.model import GaussianMixture, Separated
from dgd.model.population.support_points import matched_points, single_point
from dgd.runtime import computing
from support.compiled import support_of
from support.objectives import objective
from support.random_crowds import random_crowd
from support.shaken import shaken
from support.untrained import untrained
from support.variants import VARIANTS

ORIGINS, HORIZON = np.arange(34, 38), 2
OBJECTIVE = objective(expected_weight=0.0)
OTHERWISE = {"fixed Gaussian", "events"}
"""Gradients found elsewhere: a part of the Gaussian's, and those of events with context."""


@pytest.fixture(scope="module")
def varied(drawn):
    """Each variant at random parameters, made once."""
    return cache(
        lambda name: shaken(
            untrained(dgd.DGD(start="warmup", innovations="none", **VARIANTS[name]), drawn.panel)
        )
    )


def assert_same_forecasts(one, other):
    """The same program on the same numbers: equal to the last bit."""
    one, other = (fit.predict(ORIGINS, HORIZON) for fit in (one, other))
    for name in ("arrivals", "patterns"):
        ours, theirs = getattr(one, name), getattr(other, name)
        np.testing.assert_array_equal(ours, theirs)
        assert np.isfinite(ours).all()


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_forecasts_the_same_after_save_and_load(varied, name, tmp_path):
    variant = varied(name)
    variant.save(tmp_path / "model.dgd")
    loaded = dgd.load(tmp_path / "model.dgd")
    assert_same_forecasts(variant, loaded)
    assert loaded.population("polars").equals(variant.population("polars"))


def test_every_variant_enters_a_backtest(varied, drawn):
    dates = drawn.panel.dates
    result = dgd.backtest(
        drawn.panel,
        {name: varied(name) for name in VARIANTS},
        horizons=[HORIZON],
        train_end=dates[27],
        validation_end=dates[34],
        paths=0,
    )
    table = result.to_frame("polars")
    assert set(table["model"]) == set(VARIANTS)
    assert set(table["seeds"]) == {2}
    assert table["mean"].is_finite().all()
    for name, changed in VARIANTS.items():
        assert changed.items() <= result.settings[name].items()


@pytest.mark.parametrize("name", [name for name in VARIANTS if name not in OTHERWISE])
def test_the_gradient_of_every_variant_reaches_all_that_is_trained(name, drawn):
    """And says how the objective changes along it. Dynamics are left out: they are a part of
    their own, whose gradients are looked at with the objective."""
    changed = {**VARIANTS[name], "dynamics": "none", "innovations": "none"}
    model = dgd.DGD(start="warmup", **changed)
    variant, step = shaken(untrained(model, drawn.panel, seeds=[1])), 1e-4
    (crowd,), split = variant.crowds, variant.split
    with computing():
        record = RECORDED[variant.settings.supervision]
        days = record(variant.panel, variant.features, split.first, split.train_stop, 50.0)
        free, fixed = eqx.partition(crowd, crowd.trainable())
        vector, unravel = ravel_pytree(free)
        value, slope = value_and_slope(OBJECTIVE, crowd, *days)
        for path, part in jax.tree_util.tree_leaves_with_path(unravel(jnp.asarray(slope))):
            share_of_one = "logits" in str(path) and part.shape[-1] == 1
            assert np.asarray(part).any() or share_of_one or not part.size, path
        lower, higher = (
            value_and_slope(
                OBJECTIVE, eqx.combine(unravel(vector + jnp.asarray(x * slope)), fixed), *days
            )[0]
            for x in (-step, step)
        )
    assert lower < value < higher
    assert (higher - lower) / (2 * step) == pytest.approx(slope @ slope, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_learns(variant_fit, name):
    for run in variant_fit(name).runs:
        assert run.train_objective[-1] < run.train_objective[0]
        assert run.best_epoch > 0


@pytest.mark.slow
def test_training_leaves_a_fixed_gaussian_where_it_started(variant_fit):
    fitted = variant_fit("fixed Gaussian")
    np.testing.assert_allclose(fitted.population("polars")["spread"], 0.5, rtol=1e-12)
    assert np.abs(np.asarray(fitted.crowds[0].arrival.intercept)).max() > 0


def test_all_but_the_population_is_trained_around_a_fixed_gaussian(varied):
    crowd = varied("fixed Gaussian").crowds[0]
    free = crowd.trainable()
    assert not any(jax.tree.leaves(free.population))
    assert all(jax.tree.leaves((free.arrival, free.response, free.feedback)))


def trainable_in(part):
    """How many numbers of a crowd, or of one of its parts, training may change."""
    arrays = eqx.filter(part, eqx.is_array)
    sizes = jax.tree.map(lambda x, free: x.size * free, arrays, part.trainable())
    return sum(jax.tree.leaves(sizes))


def test_discrete_points_match_the_mixtures_mean_and_variance():
    with computing():
        mixture = random_crowd(3).population
        assert isinstance(mixture, GaussianMixture)
        points, weights = map(np.asarray, support_of(matched_points(mixture)))
        nodes, node_weights = map(np.asarray, support_of(mixture))
        center = np.asarray(single_point(mixture).points)[:, 0]
    for power in (1, 2):
        ours = (np.exp(weights)[..., None] * points**power).sum(1)
        theirs = (np.exp(node_weights)[..., None] * nodes**power).sum(1)
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)
    np.testing.assert_allclose(center, (np.exp(node_weights)[..., None] * nodes).sum(1), rtol=1e-10)


def test_two_gaussians_and_three_points_have_five_effective_parameters():
    """One share less than there are shares, for they sum to one."""
    with computing():
        mixture = random_crowd(3).population
        cohorts = len(mixture.logits)
        assert trainable_in(mixture) / cohorts - 1 == 5
        assert trainable_in(matched_points(mixture)) / cohorts - 1 == 5
        assert trainable_in(single_point(mixture)) / cohorts - 1 == 1


def test_a_separated_readout_answers_with_a_population_of_its_own(varied):
    """Both are trained, and nothing ties the one to the other."""
    crowd = varied("separated readout").crowds[0]
    assert isinstance(crowd.readout, Separated)
    cohorts = len(crowd.arrival.intercept[0])
    assert trainable_in(crowd.readout.population) == trainable_in(crowd.population) == 6 * cohorts
    own, there = (np.asarray(p.means) for p in (crowd.readout.population, crowd.population))
    assert np.abs(own - there).min() > 0


def test_each_variant_has_the_parameters_its_parts_say(varied, drawn):
    """2 units, 3 cohorts, 3 behaviours; 2 components or 3 points in 1 dimension."""
    plain = untrained(dgd.DGD(start="warmup", innovations="none"), drawn.panel)
    features = len(plain.features.names(plain.panel))
    arrival = 2 * 3 + features + 1
    response = (2 + 3) * 3 + features * 3 + 2 + 3
    memory, fatigue, shift, environment = 1 + 9, 1 + 3, 1 + 3 + 1, 3 + 3
    feedback = memory + fatigue + shift + environment
    mixture = 3 * (2 + 2 + 2)
    effort = 3
    whole = arrival + response + feedback + effort
    expected = {
        "fixed Gaussian": whole,
        "matched discrete": whole + 3 * (3 + 3),
        "point": whole + 3 * (1 + 1),
        "without dynamics": arrival + response + effort + mixture,
        "separated readout": whole + 2 * mixture,
        "events": whole + mixture,
    }
    assert trainable_in(plain.crowds[0]) == whole + mixture
    assert {name: trainable_in(varied(name).crowds[0]) for name in VARIANTS} == expected
