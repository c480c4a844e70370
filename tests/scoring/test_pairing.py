"""Paired differences over origins: known tests as special cases, and intervals that hold."""

import numpy as np
import pytest
from scipy import stats

from dgd.scoring import paired_difference
from dgd.scoring.pairing import fewest_origins, weighted_mean


def scores(days: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(2, 1, days), rng.normal(2.5, 1, days), rng.uniform(1, 50, days)


def test_one_day_ahead_it_is_the_paired_t_test() -> None:
    one, other, _ = scores(30)
    found = paired_difference(one, other, np.full(30, 7.0), 1)
    known = stats.ttest_rel(one, other)
    assert found.difference == pytest.approx(np.mean(one - other))
    assert found.p_value == pytest.approx(known.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(known.confidence_interval(0.95)))
    assert found.origins == 30


def test_several_days_ahead_by_hand() -> None:
    """Diebold and Mariano's statistic with the factor of Harvey, Leybourne and Newbold."""
    n, h = 40, 4
    noise = np.random.default_rng(2).normal(0.3, 1, n + h - 1)
    gaps = np.array([noise[t : t + h].sum() for t in range(n)])
    found = paired_difference(gaps + 5, np.full(n, 5.0), np.ones(n), h)
    around = gaps - gaps.mean()
    covariances = [sum(around[t] * around[t - k] for t in range(k, n)) / n for k in range(h)]
    statistic = gaps.mean() / np.sqrt((covariances[0] + 2 * sum(covariances[1:])) / n)
    statistic *= np.sqrt((n + 1 - 2 * h + h * (h - 1) / n) / n)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(statistic), n / h - 1))


def test_overlap_never_makes_the_interval_shorter_than_independent_days_would() -> None:
    """Gaps that change sign every day have a negative sum of covariances."""
    gaps = np.array([1.0, -1.0] * 10) + np.linspace(0, 0.1, 20)
    wide, narrow = (paired_difference(gaps, np.zeros(20), np.ones(20), h) for h in (2, 1))
    assert wide.high - wide.low > narrow.high - narrow.low > 0


def test_days_weigh_by_their_events() -> None:
    """The difference is that of the scores of all events, and whole days are what is drawn."""
    one, other, weights = scores(200)
    found = paired_difference(one, other, weights, 1)
    assert found.difference == pytest.approx(
        weighted_mean(one, weights) - weighted_mean(other, weights)
    )
    rng = np.random.default_rng(4)
    drawn = rng.integers(0, 200, (4000, 200))
    again = (weights * (one - other))[drawn].sum(1) / weights[drawn].sum(1)
    assert found.high - found.low == pytest.approx(2 * 1.972 * again.std(), rel=0.06)


def test_days_without_events_change_nothing() -> None:
    one, other, weights = scores(20)
    quiet = [3, 9]
    weights[quiet], one[quiet], other[quiet] = 0.0, np.nan, np.nan
    found = paired_difference(one, other, weights, 1)
    rest = [np.delete(grid, quiet) for grid in (one, other, weights)]
    assert found == pytest.approx(paired_difference(*rest, 1))
    assert found.origins == 18


@pytest.mark.parametrize(("days", "horizon"), [(10, 1), (60, 1), (28, 7), (60, 7), (15, 3)])
def test_the_interval_holds_the_true_difference_in_19_of_20_cases(days: int, horizon: int) -> None:
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 1, (1000, days + horizon - 1))
    gaps = sum(noise[:, k : k + days] for k in range(horizon)) + 0.5
    found = [paired_difference(row, np.zeros(days), np.ones(days), horizon) for row in gaps]
    held = np.mean([one.low <= 0.5 <= one.high for one in found])
    assert 0.92 < held < 0.98


@pytest.mark.parametrize("horizon", [1, 2, 7])
def test_too_few_origins_have_a_difference_but_no_interval(horizon: int) -> None:
    enough = fewest_origins(horizon)
    one, other, weights = scores(enough)
    assert paired_difference(one, other, weights, horizon).p_value is not None
    few = paired_difference(one[1:], other[1:], weights[1:], horizon)
    assert few[1:] == (None, None, None, enough - 1)
    assert np.isfinite(few.difference)


def test_the_same_scores_differ_by_nothing() -> None:
    one, _, weights = scores(20)
    found = paired_difference(one, one * (1 + 1e-15), weights, 1)
    assert found == (0.0, 0.0, 0.0, 1.0, 20)


def test_impossible_events_leave_no_interval() -> None:
    one, other, weights = scores(20)
    one[4] = np.inf
    assert paired_difference(one, other, weights, 1) == (np.inf, None, None, None, 20)
    other[5] = np.inf
    assert np.isnan(paired_difference(one, other, weights, 1).difference)


def test_no_events_at_all_leave_nothing() -> None:
    one, other, weights = scores(20)
    found = paired_difference(one, other, 0 * weights, 1)
    assert np.isnan(found.difference)
    assert found[1:] == (None, None, None, 0)
