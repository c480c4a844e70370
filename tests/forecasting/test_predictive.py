"""A prediction is a distribution: what is drawn from it scatters as it says."""

import numpy as np
import pytest
from scipy import stats

import dgd
from support.refusals import refused

PATHS = 6000


def prediction(seeds: int = 1, dispersion: object = 4.0, steps: int = 2) -> dgd.Predictive:
    """Two behaviours of a few cells; every seed expects other counts and other patterns."""
    rng = np.random.default_rng(7)
    arrivals = rng.uniform(2.0, 30.0, (seeds, steps, 1, 2, 3))
    patterns = rng.dirichlet(np.ones(4), arrivals.shape)
    return dgd.Predictive(arrivals, patterns, dispersion)


def drawn(predicted: dgd.Predictive, paths: int = PATHS) -> np.ndarray:
    return predicted.sample(np.random.default_rng(3), paths)


def assert_scatters(counts: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> None:
    """Mean and variance within five standard errors, cell by cell."""
    error = np.sqrt(variance / len(counts))
    assert (np.abs(counts.mean(0) - mean) < 5 * error).all()
    square = (counts - mean) ** 2
    assert (np.abs(square.mean(0) - variance) < 5 * square.std(0) / np.sqrt(len(counts))).all()


@pytest.mark.parametrize("r", [0.7, 4.0, 50.0])
def test_arrivals_are_negative_binomial(r: float) -> None:
    predicted = prediction(dispersion=r)
    arrivals, mean = drawn(predicted).sum(-1), predicted.arrivals[0]
    assert_scatters(arrivals, mean, mean + mean**2 / r)
    for cell in np.ndindex(mean.shape):
        law = stats.nbinom(r, r / (r + mean[cell]))
        assert np.mean(arrivals[:, *cell] == 0) == pytest.approx(law.pmf(0), abs=0.03)


def test_an_infinite_dispersion_draws_a_poisson() -> None:
    predicted = prediction(dispersion=np.inf)
    mean = predicted.arrivals[0]
    assert_scatters(drawn(predicted).sum(-1), mean, mean)


def test_every_cell_may_have_a_dispersion_of_its_own() -> None:
    predicted = prediction()
    r = np.random.default_rng(1).uniform(0.5, 20.0, predicted.arrivals.shape)
    mean = predicted.arrivals[0]
    assert_scatters(drawn(predicted.with_dispersion(r)).sum(-1), mean, mean + mean**2 / r[0])


def test_patterns_have_the_predicted_shares() -> None:
    predicted = prediction()
    counts = drawn(predicted).sum(0)
    expected = counts.sum(-1, keepdims=True) * predicted.patterns[0]
    for cell in np.ndindex(counts.shape[:-1]):
        assert stats.chisquare(counts[cell], expected[cell]).pvalue > 1e-4


def test_parts_add_up_to_whole_arrivals_and_behaviors() -> None:
    predicted = prediction()
    counts = drawn(predicted)
    assert counts.shape == (PATHS, 2, 1, 2, 3, 4)
    assert np.issubdtype(counts.dtype, np.integer)
    behaviors = counts[..., [1, 2]] + counts[..., [3, 3]]
    assert (behaviors <= counts.sum(-1)[..., None]).all()
    mean = predicted.behavior_counts[0]
    assert_scatters(behaviors, mean, mean + mean**2 / 4.0)


def test_a_path_belongs_to_its_seed() -> None:
    """Path i is drawn from seed i modulo the number of seeds, and keeps to it on every day."""
    predicted = prediction(seeds=3)
    levels = np.array([0.0, 10.0, 1000.0])[:, None, None, None, None]
    apart = dgd.Predictive(0 * predicted.arrivals + levels, predicted.patterns, np.inf)
    totals = drawn(apart, 8).sum(-1)
    assert not totals[0::3].any()
    assert ((totals[1::3] > 0) & (totals[1::3] < 100)).all()
    assert (totals[2::3] > 500).all()


def test_a_sampler_of_its_own_draws_in_its_place() -> None:
    asked = []
    predicted = prediction(dispersion=None)
    counts = np.ones((5, *predicted.patterns.shape[1:]), np.int64)

    def sampler(rng: np.random.Generator, paths: int) -> np.ndarray:
        asked.append((rng, paths))
        return counts

    rng = np.random.default_rng(1)
    own = dgd.Predictive(predicted.arrivals, predicted.patterns, None, sampler)
    assert own.sample(rng, 5) is counts
    assert asked == [(rng, 5)]


def test_without_a_dispersion_nothing_can_be_drawn() -> None:
    predicted = prediction(dispersion=None)
    with refused("no dispersion", "infinity for a Poisson"):
        drawn(predicted)
    assert drawn(predicted.with_dispersion(np.inf), 2).shape[0] == 2


@pytest.mark.parametrize("paths", [0, -2])
def test_no_paths_cannot_be_drawn(paths: int) -> None:
    with refused(f"paths is {paths}", "at least one"):
        drawn(prediction(), paths)


def test_averages_have_the_mean_counts_of_all_seeds() -> None:
    predicted = prediction(seeds=3)
    mean = predicted.averaged()
    assert mean.arrivals.shape == (1, 2, 1, 2, 3)
    np.testing.assert_allclose(mean.arrivals[0], predicted.arrivals.mean(0), rtol=1e-14)
    np.testing.assert_allclose(
        mean.behavior_counts[0], predicted.behavior_counts.mean(0), rtol=1e-13
    )
    np.testing.assert_allclose(mean.patterns.sum(-1), 1.0, rtol=1e-14)
    assert mean.dispersion is None


def test_averages_are_probabilities_where_nobody_is_expected() -> None:
    predicted = prediction(seeds=2)
    nobody = dgd.Predictive(0 * predicted.arrivals, predicted.patterns).averaged()
    assert not nobody.arrivals.any()
    np.testing.assert_allclose(nobody.patterns[0], predicted.patterns.mean(0), rtol=1e-14)


def test_rates_are_how_likely_each_behavior_is() -> None:
    predicted = prediction()
    q = predicted.patterns
    by_hand = np.stack([q[..., 1] + q[..., 3], q[..., 2] + q[..., 3]], -1)
    np.testing.assert_allclose(predicted.rates, by_hand, rtol=1e-14)
    counts = predicted.arrivals[..., None] * by_hand
    np.testing.assert_allclose(predicted.behavior_counts, counts, rtol=1e-14)


@pytest.mark.parametrize("step", [0, 1, 2, -1, -3])
def test_one_step_can_be_taken_out(step: int) -> None:
    predicted = prediction(seeds=2, steps=3)
    assert predicted.horizon == 3
    r = np.random.default_rng(1).uniform(1.0, 9.0, predicted.arrivals.shape)
    for dispersion, of_step in ((r, r[:, [step]]), (r[:, :1], r[:, :1]), (4.0, 4.0), (None, None)):
        alone = predicted.with_dispersion(dispersion).at(step)
        assert alone.horizon == 1
        np.testing.assert_array_equal(alone.arrivals, predicted.arrivals[:, [step]])
        np.testing.assert_array_equal(alone.patterns, predicted.patterns[:, [step]])
        np.testing.assert_array_equal(alone.dispersion, of_step)


def test_samples_of_one_step_are_those_of_whole_paths() -> None:
    """A sampler of paths stays the sampler when a step is taken out."""
    whole = np.arange(2 * 2 * 1 * 2 * 3 * 4).reshape(2, 2, 1, 2, 3, 4)
    base = prediction()
    predicted = dgd.Predictive(base.arrivals, base.patterns, 4.0, lambda _rng, paths: whole[:paths])
    np.testing.assert_array_equal(drawn(predicted.at(-1), 2), whole[:, -1:])
