"""Chains of histories: what they are without neighbours, and where neighbours draw them."""

import numpy as np
import pytest

from dgd.anchoring.chains import CHAINS, Chain, chained, remembered_sums, spread_evenly
from dgd.anchoring.levels import fading_sums
from dgd.baselines import SlowHistory
from dgd.baselines.joint_history import prior

ALONE = Chain(
    all_half_life=28,
    cohort_half_life=28,
    unit_half_life=28,
    cell_half_life=14,
    cohort_strength=1e15,
    unit_strength=1e15,
    cell_strength=10,
    unit_share=0,
)


@pytest.fixture
def daily() -> np.ndarray:
    return np.random.default_rng(1).poisson(4.0, (30, 2, 3, 4)).astype(float)


def test_fading_sums_are_the_plain_recursion(daily: np.ndarray) -> None:
    expected = np.zeros_like(daily)
    for day in range(len(daily)):
        before = expected[day - 1] if day else 0.0
        expected[day] = 2 ** (-1 / 5) * before + daily[day]
    np.testing.assert_allclose(fading_sums(daily, 5.0), expected, rtol=1e-12)


def test_alone_a_chain_is_the_slow_history(drawn) -> None:
    """Where neighbours say what histories are smoothed towards, a cell is its slow history.

    Histories keep an average day where chains keep a sum, so strengths differ by 1 - 2^(-1/14), and
    begin as if the first day had been so always.
    """
    panel, origins = drawn.panel, np.array([12, 25])
    fitted = SlowHistory(half_lives=[14], taus=[10]).fit(
        panel, train_end=panel.dates[20], validation_end=panel.dates[30]
    )
    shares = prior(panel, fitted.split)  # what histories are smoothed towards
    counts = panel.patterns.astype(float)
    fade = 2 ** (-1 / 14)
    counts[0] /= 1 - fade  # the first day for ever before
    sums = remembered_sums(counts)

    def neighbours(level, half_life):
        own = sums(level, half_life)
        return own if level == "cell" else np.broadcast_to(1e12 * shares, own.shape)

    alone = ALONE._replace(cell_strength=10 / (1 - fade))
    found = chained(neighbours, alone)[origins]
    np.testing.assert_allclose(found, fitted.predict(origins, 1).patterns[0, 0], rtol=1e-6)


def test_a_cell_without_arrivals_is_like_its_neighbours(daily: np.ndarray) -> None:
    daily[:, 1, 2] = 0
    chain = ALONE._replace(cohort_strength=1.0, cell_strength=5.0)
    found = chained(remembered_sums(daily), chain)
    cohort = fading_sums(daily.sum(1), 28.0)[-1, 2]
    whole = fading_sums(daily.sum((1, 2)), 28.0)[-1]
    above = (whole + 0.125) / (whole.sum() + 0.5)
    np.testing.assert_allclose(found[-1, 1, 2], (cohort + above) / (cohort.sum() + 1), rtol=1e-12)


@pytest.mark.parametrize("number", [0, 17, 101])
def test_every_chain_says_probabilities(daily: np.ndarray, number: int) -> None:
    found = chained(remembered_sums(daily), CHAINS[number])
    assert (found > 0).all()
    np.testing.assert_allclose(found.sum(-1), 1.0, rtol=1e-12)


def test_candidates_are_spread_over_all_values() -> None:
    for field in range(len(Chain._fields)):
        values, counts = np.unique([chain[field] for chain in CHAINS], return_counts=True)
        assert len(values) >= 3
        assert counts.max() <= 1.5 * counts.min()
    assert spread_evenly(8) == CHAINS[:8]
