"""Variants are parts plugged into the same model: every one goes the same way."""

import equinox as eqx
import jax
import numpy as np
import pytest

import dgd
from dgd.population import GaussianMixture, matched_points, single_point
from dgd.runtime import computing
from random_models import random_model

VARIANTS = {
    "fixed Gaussian": {"population": "fixed"},
    "matched discrete": {"population": "discrete"},
    "point": {"population": "point"},
    "without dynamics": {"dynamics": "none"},
}


@pytest.fixture(scope="module", params=VARIANTS)
def variant(request, drawn):
    dates = drawn.panel.dates
    model = dgd.DGD(epochs=5, start="warmup", **VARIANTS[request.param])
    return model.fit(drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=[1])


def test_every_variant_forecasts_the_same_after_save_and_load(variant, tmp_path):
    variant.save(tmp_path / "model.dgd")
    loaded = dgd.load(tmp_path / "model.dgd")
    origins = np.array([34, 36])
    for ours, theirs in zip(variant.predict(origins, 2), loaded.predict(origins, 2), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert np.isfinite(ours).all()
    assert loaded.population("polars").equals(variant.population("polars"))


def test_a_fixed_gaussian_stays_where_it_started_while_the_rest_moves(drawn):
    dates = drawn.panel.dates
    ends = {"train_end": dates[27], "validation_end": dates[34]}
    model = dgd.DGD(epochs=5, start="warmup", population="fixed")
    fitted = model.fit(drawn.panel, **ends, seeds=[1])
    assert fitted.runs[0].best_epoch > 0
    types = fitted.population("polars")
    np.testing.assert_allclose(types["spread"], 0.5, rtol=1e-12)
    assert np.abs(np.asarray(fitted.models[0].arrival.intercept)).max() > 0


def trainable_in(population):
    arrays = eqx.filter(population, eqx.is_array)
    sizes = jax.tree.map(lambda x, free: x.size * free, arrays, population.trainable())
    return sum(jax.tree.leaves(sizes))


def test_discrete_points_match_the_mixtures_mean_and_variance():
    with computing():
        mixture = random_model(3).population
        assert isinstance(mixture, GaussianMixture)
        points, weights = map(np.asarray, matched_points(mixture).support())
        nodes, node_weights = map(np.asarray, mixture.support())
        center = np.asarray(single_point(mixture).points)[:, 0]
    for power in (1, 2):
        ours = (np.exp(weights)[..., None] * points**power).sum(1)
        theirs = (np.exp(node_weights)[..., None] * nodes**power).sum(1)
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)
    np.testing.assert_allclose(center, (np.exp(node_weights)[..., None] * nodes).sum(1), rtol=1e-10)


def test_two_gaussians_and_three_points_have_five_effective_parameters():
    """One share less than there are shares, for they sum to one."""
    with computing():
        mixture = random_model(3).population
        cohorts = len(mixture.logits)
        assert trainable_in(mixture) / cohorts - 1 == 5
        assert trainable_in(matched_points(mixture)) / cohorts - 1 == 5
        assert trainable_in(single_point(mixture)) / cohorts - 1 == 1
