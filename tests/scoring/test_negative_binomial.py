"""The negative binomial of counts: SciPy's law, a Poisson at infinity, and r found again."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import beta, ive, xlogy
from scipy.stats import nbinom, poisson

from dgd.model import negative_binomial
from dgd.runtime import computing

COUNT = np.array([0.0, 1.0, 3.0, 40.0, 700.0])
MEAN = np.array([0.2, 1.0, 5.0, 33.0, 520.0])
DISPERSIONS = np.array([0.3, 4.0, 50.0, 1e5, 3.0])
LOG_PROBABILITY = jax.jit(negative_binomial.log_probability)


def law(mean: np.ndarray, r: np.ndarray | float) -> object:
    return nbinom(r, r / (r + mean))


def test_log_probabilities_are_scipys() -> None:
    with computing():
        ours = LOG_PROBABILITY(*(jnp.asarray(x) for x in (COUNT, MEAN, DISPERSIONS)))
    np.testing.assert_allclose(ours, law(MEAN, DISPERSIONS).logpmf(COUNT), rtol=1e-9)


@pytest.mark.parametrize("r", [0.3, 4.0, 50.0])
def test_constant_and_kernel_are_the_log_probability(r: float) -> None:
    with computing():
        kernel = jax.jit(negative_binomial.log_kernel)(
            *(jnp.asarray(x) for x in (COUNT, MEAN, np.full(5, r)))
        )
    ours = negative_binomial.log_constant(COUNT, r) + np.asarray(kernel)
    np.testing.assert_allclose(ours, law(MEAN, r).logpmf(COUNT), rtol=1e-9)


def test_the_variance_is_m_plus_m_squared_over_r() -> None:
    np.testing.assert_allclose(law(MEAN, DISPERSIONS).var(), MEAN + MEAN**2 / DISPERSIONS)


def test_draws_have_that_mean_and_variance() -> None:
    mean, r = np.full((40_000, 3), 12.0), np.array([0.5, 6.0, np.inf])
    drawn = negative_binomial.draw(np.random.default_rng(5), mean, np.broadcast_to(r, mean.shape))
    variance = 12 + 144 / r
    assert (np.abs(drawn.mean(0) - 12) < 5 * np.sqrt(variance / 40_000)).all()
    np.testing.assert_allclose(drawn.var(0), variance, rtol=0.08)


@pytest.mark.parametrize("r", [0.3, 4.0, 50.0])
def test_deviance_is_twice_the_log_probability_lost_against_the_count_itself(r: float) -> None:
    best = [0.0 if n == 0 else law(n, r).logpmf(n) for n in COUNT]
    expected = 2 * (np.array(best) - law(MEAN, r).logpmf(COUNT))
    np.testing.assert_allclose(negative_binomial.deviance(COUNT, MEAN, r), expected, rtol=1e-9)


def ranked_terms(counts: np.ndarray, mean: float, r: float) -> np.ndarray:
    """The CRPS term by term; probabilities by their ratios, outwards from the most likely count."""
    end = int(mean + 10 * np.sqrt(mean + mean**2 / r) + 20 * mean / r + 40)
    k = np.arange(end)
    ratio = (1 + k / r) * mean / (1 + mean / r) / (k + 1)
    mode = int(np.argmax(ratio < 1))
    p = np.append(np.cumprod(1 / ratio[:mode][::-1])[::-1], np.cumprod(np.append(1, ratio[mode:])))
    p /= p.sum()
    below, above = np.cumsum(p), np.append(np.cumsum(p[:0:-1])[::-1], 0.0)
    before = np.append(0.0, np.cumsum(below**2))
    after = np.append(np.cumsum(above[::-1] ** 2)[::-1], 0.0)
    inside = np.minimum(counts, end + 1).astype(int)
    return before[inside] + after[inside] + (counts - inside)


@pytest.mark.parametrize("r", [0.5, 1.0, 3.0, 50.0, 1e3, 1e6, 1e9, np.inf])
@pytest.mark.parametrize("mean", [0.01, 0.4, 5.0, 80.0, 3e3, 1e5])
def test_crps_is_the_sum_of_squared_distances(mean: float, r: float) -> None:
    spread = np.sqrt(mean + mean**2 / r)
    near = np.maximum(mean + spread * np.array([-3.0, -1.0, -0.3, 0.0, 0.3, 1.0, 3.0]), 0.0)
    counts = np.round([0.0, 1.0, *near, 2 * mean, 1e4, 1e6])
    found = negative_binomial.crps(counts, np.full_like(counts, mean), r)
    np.testing.assert_allclose(found, ranked_terms(counts, mean, r), rtol=1e-9)


def test_half_the_distance_of_two_counts_is_what_is_known_of_it() -> None:
    mean = 10.0 ** np.arange(-8, 13)
    half = negative_binomial.half_mean_difference
    np.testing.assert_allclose(half(mean, 1.0), mean * (1 + mean) / (1 + 2 * mean), rtol=1e-12)
    of_poisson = mean * (ive(0, 2 * mean) + ive(1, 2 * mean))
    np.testing.assert_allclose(half(mean[:14], 1e15), of_poisson[:14], rtol=1e-9)
    for r in (1e-3, 0.1, 2.0, 300.0):
        of_gamma = 1e15 / r / beta(0.5, r)
        np.testing.assert_allclose(half(np.array([1e15]), r), of_gamma, rtol=1e-12)


def test_crps_of_next_to_nothing_is_the_count() -> None:
    mean = np.array([0.0, 1e-300, 1e-12])
    np.testing.assert_allclose(negative_binomial.crps(np.full(3, 3.0), mean, 50.0), 3.0)
    assert (negative_binomial.crps(np.zeros(3), mean, 50.0) >= 0).all()


@pytest.mark.parametrize("r", [1e-6, 0.5, 50.0])
def test_crps_of_exploding_means_is_that_of_a_gamma(r: float) -> None:
    mean = np.array([1e12, 1e30, 1e100])
    found = negative_binomial.crps(np.full(3, 3.0), mean, r)
    np.testing.assert_allclose(found / mean, 1 - 1 / r / beta(0.5, r), rtol=1e-5)


def test_infinity_is_a_poisson() -> None:
    k = np.arange(2000)
    apart = poisson.cdf(k, MEAN[:, None]) - (k >= COUNT[:, None])
    found = negative_binomial.crps(COUNT, MEAN, np.full(5, np.inf))
    np.testing.assert_allclose(found, (apart**2).sum(-1), rtol=1e-10)
    lost = xlogy(COUNT, COUNT / MEAN) - (COUNT - MEAN)
    np.testing.assert_allclose(negative_binomial.deviance(COUNT, MEAN, np.inf), 2 * lost, rtol=1e-5)


@pytest.mark.parametrize("r", [0.8, 5.0, 60.0])
def test_a_dispersion_is_found_again(r: float) -> None:
    mean = np.random.default_rng(2).uniform(20.0, 60.0, (200, 300))
    counts = negative_binomial.draw(np.random.default_rng(3), mean, r).astype(float)
    assert negative_binomial.measured_dispersion(counts, mean) == pytest.approx(r, rel=0.05)


def test_counts_that_scatter_no_more_than_a_poissons_have_no_dispersion() -> None:
    mean = np.full((4, 5), 7.0)
    assert negative_binomial.measured_dispersion(mean, mean) == np.inf
    assert negative_binomial.measured_dispersion(mean, 0 * mean) == np.inf


def test_counts_of_any_mean_can_be_drawn() -> None:
    mean = np.array([0.0, 3.0, 1e30, np.inf])
    drawn = negative_binomial.draw(np.random.default_rng(1), mean, 20.0)
    assert np.all((drawn >= 0) & (drawn < 2**54))


def test_dispersion_of_cohorts_is_between_their_own_and_that_of_all() -> None:
    excess, square = np.array([8.0, 0.5, -3.0]), np.array([40.0, 10.0, 20.0])
    own, pooled = np.array([0.2, 0.05, 0.0]), 5.5 / 70
    for days, weight in ((0, 0.0), (28, 0.5), (84, 0.75)):
        found = negative_binomial.pooled_inverse(excess, square, days)
        assert found == pytest.approx(weight * own + (1 - weight) * pooled)
    nothing = negative_binomial.pooled_inverse(np.zeros(2), np.zeros(2), 10)
    assert (nothing == 0).all()
