"""The negative binomial of counts: SciPy's law, a Poisson at infinity, and r found again."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import xlogy
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


@pytest.mark.parametrize("r", [0.3, 4.0, 50.0])
def test_crps_is_the_sum_of_squared_distances(r: float) -> None:
    k = np.arange(40_000)
    apart = law(MEAN[:, None], r).cdf(k) - (k >= COUNT[:, None])
    found = negative_binomial.crps(COUNT, MEAN, np.full(5, r))
    np.testing.assert_allclose(found, (apart**2).sum(-1), rtol=1e-9)


def test_infinity_is_a_poisson() -> None:
    k = np.arange(2000)
    apart = poisson.cdf(k, MEAN[:, None]) - (k >= COUNT[:, None])
    found = negative_binomial.crps(COUNT, MEAN, np.full(5, np.inf))
    np.testing.assert_allclose(found, (apart**2).sum(-1), rtol=1e-5)
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
