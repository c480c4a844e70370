"""Variants are parts plugged into the same model: every one goes the same way."""

import equinox as eqx
import jax
import numpy as np
import pytest

import dgd
from dgd.model.population import GaussianMixture, matched_points, single_point
from dgd.model.readout import Separated
from dgd.runtime import computing
from support.random_crowds import random_crowd
from support.variants import VARIANTS


@pytest.fixture(scope="module", params=VARIANTS)
def variant(request, variant_fit):
    return variant_fit(request.param)


def test_every_variant_forecasts_the_same_after_save_and_load(variant, tmp_path):
    variant.save(tmp_path / "model.dgd")
    loaded = dgd.load(tmp_path / "model.dgd")
    origins = np.array([34, 36])
    for ours, theirs in zip(variant.predict(origins, 2), loaded.predict(origins, 2), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert np.isfinite(ours).all()
    assert loaded.population("polars").equals(variant.population("polars"))


def test_every_variant_enters_a_backtest(variant_fit, drawn):
    dates = drawn.panel.dates
    result = dgd.backtest(
        drawn.panel,
        {name: variant_fit(name) for name in VARIANTS},
        horizons=[1, 3],
        train_end=dates[27],
        validation_end=dates[34],
    )
    table = result.to_frame("polars")
    assert set(table["model"]) == set(VARIANTS)
    assert set(table["seeds"]) == {2}
    assert table["mean"].is_finite().all()
    for name, changed in VARIANTS.items():
        assert changed.items() <= result.settings[name].items()


def test_a_fixed_gaussian_stays_where_it_started_while_the_rest_moves(variant_fit):
    fitted = variant_fit("fixed Gaussian")
    assert fitted.runs[0].best_epoch > 0
    types = fitted.population("polars")
    np.testing.assert_allclose(types["spread"], 0.5, rtol=1e-12)
    assert np.abs(np.asarray(fitted.models[0].arrival.intercept)).max() > 0


def trainable_in(part):
    """How many numbers of a model, or of one of its parts, training may change."""
    arrays = eqx.filter(part, eqx.is_array)
    sizes = jax.tree.map(lambda x, free: x.size * free, arrays, part.trainable())
    return sum(jax.tree.leaves(sizes))


def test_discrete_points_match_the_mixtures_mean_and_variance():
    with computing():
        mixture = random_crowd(3).population
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
        mixture = random_crowd(3).population
        cohorts = len(mixture.logits)
        assert trainable_in(mixture) / cohorts - 1 == 5
        assert trainable_in(matched_points(mixture)) / cohorts - 1 == 5
        assert trainable_in(single_point(mixture)) / cohorts - 1 == 1


def test_a_separated_readout_answers_with_a_population_of_its_own(variant_fit):
    """Both are trained, and nothing ties the one to the other."""
    model = variant_fit("separated readout").models[0]
    assert isinstance(model.readout, Separated)
    cohorts = len(model.arrival.intercept[0])
    assert trainable_in(model.readout.population) == trainable_in(model.population) == 6 * cohorts
    moved = np.abs(np.asarray(model.readout.population.means - model.population.means))
    assert moved.min() > 0


def test_each_variant_has_the_parameters_its_parts_say(variant_fit, fit):
    """2 units, 3 cohorts, 3 behaviours; 2 components or 3 points in 1 dimension."""
    features = len(fit.features.names(fit.panel))
    arrival = 2 * 3 + features + 1
    behavior = (2 + 3) * 3 + features * 3 + 9 + 3 + 3 + 2 + 3
    feedback = 6 + 3 + 1
    mixture = 3 * (2 + 2 + 2)
    whole = arrival + behavior + feedback
    expected = {
        "fixed Gaussian": whole,
        "matched discrete": whole + 3 * (3 + 3),
        "point": whole + 3 * (1 + 1),
        "without dynamics": arrival + behavior + mixture,
        "separated readout": whole + 2 * mixture,
        "events": whole + mixture,
    }
    assert trainable_in(fit.models[0]) == whole + mixture
    assert {name: trainable_in(variant_fit(name).models[0]) for name in VARIANTS} == expected
