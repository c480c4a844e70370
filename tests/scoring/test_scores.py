"""Every score is what its formula says: by hand, and by a naive loop over days and cells."""

import math

import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import nbinom, poisson

from dgd.scoring import behavior_scores, count_scores


def case(seed: int = 0, days: int = 6, units: int = 2, cohorts: int = 3, behaviors: int = 3):
    """Counts with an empty day, an empty cohort and an empty cell, and a forecast for them."""
    rng = np.random.default_rng(seed)
    shape = (days, units, cohorts, 2**behaviors)
    counts = rng.poisson(1.5, shape).astype(float)
    counts[2] = 0
    counts[:, :, 1] = 0
    counts[4, 0, 2] = 0
    patterns = rng.dirichlet(np.ones(2**behaviors), shape[:-1])
    return counts, rng.gamma(4.0, 2.0, shape[:-1]), patterns


def by_hand() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two days, one unit, two cohorts, two behaviours; nobody arrives on the second day.

    Cohort 0 has 4 arrivals: 2 showed nothing, 1 the first behaviour, 1 both.
    Cohort 1 has 1 arrival that showed both.
    """
    counts = np.zeros((2, 1, 2, 4))
    counts[0, 0, 0] = [2, 1, 0, 1]
    counts[0, 0, 1] = [0, 0, 0, 1]
    patterns = np.zeros((2, 1, 2, 4))
    patterns[:, :, 0] = [0.5, 0.25, 0.125, 0.125]  # p = (0.375, 0.25), both 0.125
    patterns[:, :, 1] = [0.25, 0.25, 0.25, 0.25]  # p = (0.5, 0.5), both 0.25
    arrivals = np.array([[[8.0, 2.0]], [[4.0, 0.0]]])
    return counts, arrivals, patterns


def test_joint_nll_by_hand() -> None:
    counts, _, patterns = by_hand()
    bits = 2 * 1 + 1 * 2 + 1 * 3 + 1 * 2
    assert behavior_scores.joint_nll(counts, patterns) == pytest.approx(bits * math.log(2) / 5)


def test_brier_by_hand() -> None:
    counts, _, patterns = by_hand()
    first = (2 * 0.625**2 + 2 * 0.375**2 + 1 * 0.5**2) / 5
    second = (1 * 0.75**2 + 3 * 0.25**2 + 1 * 0.5**2) / 5
    assert behavior_scores.brier(counts, patterns) == pytest.approx([first, second])
    assert behavior_scores.mean_brier(counts, patterns) == pytest.approx((first + second) / 2)


def test_rate_errors_by_hand() -> None:
    counts, _, patterns = by_hand()
    # Day 1: Y = (3, 2) of 5; conditional (4*.375 + .5, 4*.25 + .5) = (2, 1.5). Day 2 has no rate.
    assert behavior_scores.rate_mae(counts, patterns) == pytest.approx(100 * (1 + 0.5) / 5 / 2)
    of_first = 100 * (abs(1.5 - 2) + abs(1 - 1)) / 4 / 2
    of_second = 100 * (0.5 + 0.5) / 2
    assert behavior_scores.cohort_rate_mae(counts, patterns) == pytest.approx(
        (of_first + of_second) / 2
    )
    assert behavior_scores.pair_mae(counts, patterns) == pytest.approx(100 * abs(0.75 - 2) / 5)


def test_count_errors_by_hand_keep_the_day_without_arrivals() -> None:
    counts, arrivals, patterns = by_hand()
    # Day 1: expected (8*.375 + 1, 8*.25 + 1) = (4, 3) for (3, 2); day 2: (1.5, 1) for (0, 0).
    assert behavior_scores.behavior_count_mae(counts, arrivals, patterns) == pytest.approx(
        ((1 + 1.5) / 2 + (1 + 1) / 2) / 2
    )
    recorded = counts.sum(-1)
    assert count_scores.arrival_mae(recorded, arrivals) == pytest.approx((5 + 4) / 2)
    assert count_scores.cell_arrival_mae(recorded, arrivals) == pytest.approx((4 + 1 + 4 + 0) / 4)


def test_deviance_by_hand() -> None:
    recorded, forecast = np.array([[[3.0, 0.0]]]), np.array([[[1.5, 2.0]]])
    seen = 2 * (3 * math.log(2) - 7 * math.log(7 / 5.5))
    unseen = 2 * 4 * math.log(6 / 4)
    found = count_scores.arrival_deviance(recorded, forecast, 4.0)
    assert found == pytest.approx((seen + unseen) / 2)
    assert count_scores.arrival_deviance(recorded, recorded, 4.0) == 0


def test_crps_by_hand() -> None:
    """r = 1 is geometric: F(k) = 1 - a^(k+1) with a = mean / (1 + mean), here 1/2."""
    recorded, forecast = np.array([[[0.0, 1.0]]]), np.array([[[1.0, 1.0]]])
    at_zero = sum(0.25 ** (k + 1) for k in range(60))
    at_one = 0.5**2 + sum(0.25 ** (k + 1) for k in range(1, 60))
    found = count_scores.arrival_crps(recorded, forecast, 1.0)
    assert found == pytest.approx((at_zero + at_one) / 2, abs=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_behavior_scores_equal_a_naive_loop(seed: int) -> None:
    counts, arrivals, patterns = case(seed)
    days, units, cohorts, leaves = counts.shape
    bits = [[(y >> h) & 1 for h in range(3)] for y in range(leaves)]
    pairs = [(0, 1), (0, 2), (1, 2)]
    nll, events, square = 0.0, 0.0, [0.0] * 3
    count_errors, rate_errors, pair_errors = [], [], []
    cohort_errors: dict[int, list[float]] = {}
    for t in range(days):
        shown, expected, at_recorded = [0.0] * 3, [0.0] * 3, [0.0] * 3
        together, at_recorded_together, total = [0.0] * 3, [0.0] * 3, 0.0
        for g in range(cohorts):
            of_cohort, at_cohort, size = [0.0] * 3, [0.0] * 3, 0.0
            for j in range(units):
                cell = counts[t, j, g]
                n = sum(cell)
                size += n
                for y in range(leaves):
                    if cell[y]:
                        nll -= cell[y] * math.log(patterns[t, j, g, y])
                    for i, (h, k) in enumerate(pairs):
                        both = bits[y][h] * bits[y][k]
                        together[i] += cell[y] * both
                        at_recorded_together[i] += n * patterns[t, j, g, y] * both
                for h in range(3):
                    y_h = sum(cell[y] * bits[y][h] for y in range(leaves))
                    p = sum(patterns[t, j, g, y] * bits[y][h] for y in range(leaves))
                    square[h] += y_h * (1 - p) ** 2 + (n - y_h) * p**2
                    of_cohort[h] += y_h
                    at_cohort[h] += n * p
                    expected[h] += arrivals[t, j, g] * p
            for h in range(3):
                shown[h] += of_cohort[h]
                at_recorded[h] += at_cohort[h]
                if size:
                    error = 100 * abs(at_cohort[h] - of_cohort[h]) / size
                    cohort_errors.setdefault(g, []).append(error)
            total += size
        events += total
        for h in range(3):
            count_errors.append(abs(expected[h] - shown[h]))
            if total:
                rate_errors.append(100 * abs(at_recorded[h] - shown[h]) / total)
                pair_errors.append(100 * abs(at_recorded_together[h] - together[h]) / total)
    assert sorted(cohort_errors) == [0, 2]
    of_cohorts = [np.mean(errors) for errors in cohort_errors.values()]
    assert behavior_scores.joint_nll(counts, patterns) == pytest.approx(nll / events)
    assert behavior_scores.brier(counts, patterns) == pytest.approx([s / events for s in square])
    assert behavior_scores.mean_brier(counts, patterns) == pytest.approx(sum(square) / 3 / events)
    assert behavior_scores.rate_mae(counts, patterns) == pytest.approx(np.mean(rate_errors))
    assert behavior_scores.cohort_rate_mae(counts, patterns) == pytest.approx(np.mean(of_cohorts))
    assert behavior_scores.pair_mae(counts, patterns) == pytest.approx(np.mean(pair_errors))
    each_pair = np.reshape(pair_errors, (-1, 3)).mean(0)
    assert behavior_scores.pair_errors(counts, patterns) == pytest.approx(each_pair)
    found = behavior_scores.behavior_count_mae(counts, arrivals, patterns)
    assert found == pytest.approx(np.mean(count_errors))


@pytest.mark.parametrize("dispersion", [0.3, 4.0, 50.0])
def test_count_scores_equal_a_naive_loop(dispersion: float) -> None:
    counts, arrivals, _ = case()
    arrivals[0, 0, 0] = 400.0
    recorded = counts.sum(-1)
    total_errors, cell_errors, deviances, ranked = [], [], [], []
    for t in range(len(recorded)):
        total = 0.0
        for n, mean in zip(recorded[t].ravel(), arrivals[t].ravel(), strict=True):
            total += mean - n
            cell_errors.append(abs(mean - n))
            law = nbinom(dispersion, dispersion / (dispersion + mean))
            # The saturated likelihood is the one whose mean is what was recorded.
            best = nbinom(dispersion, dispersion / (dispersion + n))
            deviances.append(2 * (best.logpmf(n) - law.logpmf(n)) if n else -2 * law.logpmf(0))
            k = np.arange(40_000)
            ranked.append(((law.cdf(k) - (k >= n)) ** 2).sum())
        total_errors.append(abs(total))
    assert count_scores.arrival_mae(recorded, arrivals) == pytest.approx(np.mean(total_errors))
    assert count_scores.cell_arrival_mae(recorded, arrivals) == pytest.approx(np.mean(cell_errors))
    law = (recorded, arrivals, dispersion)
    assert count_scores.arrival_deviance(*law) == pytest.approx(np.mean(deviances))
    assert count_scores.arrival_crps(*law) == pytest.approx(np.mean(ranked), rel=1e-9)


def test_crps_equals_expected_distances() -> None:
    """CRPS = E|X - N| - E|X - X'| / 2, another form of the same score."""
    mean, dispersion, recorded = 7.0, 3.0, 11.0
    k = np.arange(400)
    p = nbinom.pmf(k, dispersion, dispersion / (dispersion + mean))
    apart = np.abs(k[:, None] - k[None])
    expected = (p * np.abs(k - recorded)).sum() - p @ apart @ p / 2
    cell = np.full((1, 1, 1), 1.0)
    found = count_scores.arrival_crps(recorded * cell, mean * cell, dispersion)
    assert found == pytest.approx(expected, rel=1e-9)


def test_infinite_dispersion_is_a_poisson() -> None:
    counts, arrivals, _ = case()
    recorded, k = counts.sum(-1), np.arange(200)
    cdf = poisson.cdf(k, arrivals[..., None])
    ranked = ((cdf - (k >= recorded[..., None])) ** 2).sum(-1).mean()
    law = (recorded, arrivals, math.inf)
    assert count_scores.arrival_crps(*law) == pytest.approx(ranked, rel=1e-10)
    own = xlogy(recorded, recorded / arrivals) - (recorded - arrivals)
    assert count_scores.arrival_deviance(*law) == pytest.approx(2 * own.mean(), rel=1e-6)


@pytest.mark.parametrize("recorded", [0.0, 40_123.0, 400_000.0])
def test_crps_of_large_counts_is_the_sum_too(recorded: float) -> None:
    mean, dispersion = 50_000.0, 5.0
    k = np.arange(500_000)
    cdf = nbinom.cdf(k, dispersion, dispersion / (dispersion + mean))
    cell = np.full((1, 1, 1), 1.0)
    found = count_scores.arrival_crps(recorded * cell, mean * cell, dispersion)
    assert found == pytest.approx(((cdf - (k >= recorded)) ** 2).sum(), rel=1e-9)


def test_crps_of_exploding_forecasts_is_affordable() -> None:
    found = count_scores.arrival_crps(np.ones((2, 2, 2)), np.full((2, 2, 2), 1e12), 50.0)
    assert math.isfinite(found)
    assert found > 1e11


def test_sure_forecasts_of_nothing_are_scored() -> None:
    recorded, forecast = np.array([[[0.0, 3.0]]]), np.zeros((1, 1, 2))
    assert count_scores.arrival_crps(recorded, forecast, 50.0) == pytest.approx(1.5)
    assert count_scores.arrival_deviance(recorded, forecast, 50.0) == math.inf
    assert count_scores.arrival_deviance(forecast, forecast, 50.0) == 0


def test_impossible_patterns_cost_infinity_only_where_they_occur() -> None:
    counts, _, patterns = by_hand()
    patterns[0, 0, 1] = [0.5, 0.25, 0.25, 0.0]
    assert behavior_scores.joint_nll(counts, patterns) == math.inf
    patterns[0, 0, 1] = [0.0, 0.0, 0.0, 1.0]
    assert math.isfinite(behavior_scores.joint_nll(counts, patterns))


def test_scores_without_any_arrivals_are_not_numbers_but_counts_are() -> None:
    counts, arrivals, patterns = by_hand()
    nobody = np.zeros_like(counts)
    for score in (
        behavior_scores.joint_nll,
        behavior_scores.mean_brier,
        behavior_scores.rate_mae,
        behavior_scores.cohort_rate_mae,
        behavior_scores.pair_mae,
    ):
        assert math.isnan(score(nobody, patterns))
    assert behavior_scores.behavior_count_mae(nobody, arrivals, patterns) == pytest.approx(
        (4 + 1.5 + 3 + 1) / 4
    )


def test_the_truth_scores_best_on_proper_scores() -> None:
    """Counts in exact proportion to q: any other forecast has higher NLL and Brier."""
    rng = np.random.default_rng(3)
    truth = rng.dirichlet(np.ones(4), (3, 1, 2))
    other = rng.dirichlet(np.ones(4), (3, 1, 2))
    for score in (behavior_scores.joint_nll, behavior_scores.mean_brier):
        assert score(100 * truth, truth) < score(100 * truth, other)
    assert behavior_scores.rate_mae(100 * truth, truth) == pytest.approx(0, abs=1e-9)
