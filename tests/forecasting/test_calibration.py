"""Intervals cover what they promise, and refuse what too few origins cannot promise."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest

import dgd
from dgd.forecasting.asked import Asked, counted_series
from dgd.forecasting.calibration import (
    PastDraws,
    checked_levels,
    measured_steps,
    origins_needed,
    randomised_pit,
    shown_at,
    shown_interval,
)


@pytest.mark.parametrize(("level", "needed"), [(50, 1), (80, 4), (90, 9), (95, 19), (99, 99)])
def test_a_level_needs_as_many_origins_as_its_rank(level: float, needed: int) -> None:
    assert origins_needed(level) == needed
    share = level / 100
    assert np.ceil(round((needed + 1) * share, 9)) <= needed
    assert np.ceil(round(needed * share, 9)) > needed - 1


def test_randomised_pit_of_the_right_law_is_uniform() -> None:
    rng = np.random.default_rng(4)
    draws = rng.poisson(1.5, (60, 4000)).astype(float)
    happened = rng.poisson(1.5, 4000).astype(float)
    assert kstest(randomised_pit(draws, happened, rng), "uniform").pvalue > 0.01


def test_randomised_pit_leaves_out_what_is_no_number() -> None:
    rng = np.random.default_rng(4)
    draws = np.array([[1.0, np.nan], [2.0, 5.0], [np.nan, 7.0]])
    found = randomised_pit(draws, np.array([10.0, np.nan]), rng)
    assert 2 / 3 < found[0] < 1
    assert np.isnan(found[1])


def test_a_score_is_the_least_level_whose_interval_holds_the_count() -> None:
    draws = np.random.default_rng(3).poisson(6, (199, 1)).astype(float)
    for count in range(14):
        level = float(shown_at(draws, np.array([float(count)]))[0])
        for shown, inside in ((min(level + 0.02, 1.0), True), (level - 0.02, False)):
            if shown > 0:
                low, high = shown_interval(draws, shown)
                reached = draws.min() <= count <= draws.max()
                assert bool(low <= count <= high) == (inside and reached)


def past_of(origins: int, recorded: np.ndarray, seed: int) -> PastDraws:
    """Paths that expect a hundred Poisson arrivals a day, and what was recorded."""
    drawn = np.random.default_rng(seed).poisson(100, (400, 1, origins, 1, 1, 4))
    counts = np.broadcast_to(recorded.reshape(1, origins, 1, 1, 1), (1, origins, 1, 1, 4))
    return PastDraws((1,), drawn, counts, np.arange(origins), np.ones((1, origins), bool))


def as_expected(origins: int, seed: int) -> PastDraws:
    return past_of(origins, np.random.default_rng(1000 + seed).poisson(100, origins), seed)


@pytest.mark.parametrize("level", [50, 80])
def test_promised_levels_cover_further_days_whatever_the_law(
    drawn: dgd.Simulated, level: float
) -> None:
    """Days scatter a third more than the paths: intervals of further days hold as promised."""
    asked, rng = Asked.of_days(drawn.panel), np.random.default_rng(1)
    held = []
    for seed in range(200):
        past = past_of(40, rng.normal(100, 13, 40).round().astype(int), seed)
        shown = past.promise(asked, [0], level, 1).path_level
        assert shown is not None
        low, high = shown_interval(past.drawn[:, 0, :, 0, 0, 0].reshape(-1, 1) + 0.0, shown)
        days = rng.normal(100, 13, 200).round()
        held.append(np.mean((low <= days) & (days <= high)))
    assert 100 * np.mean(held) == pytest.approx(level, abs=3)


def test_a_right_law_keeps_its_levels_and_says_so(drawn: dgd.Simulated) -> None:
    asked = Asked.of_days(drawn.panel)
    found = [as_expected(80, seed).promise(asked, [0], 80, 1) for seed in range(40)]
    # an interval holds both its ends: a little less of the paths is enough
    assert 0.75 < np.mean([promise.path_level for promise in found]) < 0.8
    assert abs(np.mean([promise.coverage for promise in found]) - 0.81) < 0.02
    assert abs(np.mean([promise.lean for promise in found]) - 0.5) < 0.02
    assert {promise.origins for promise in found} == {80}


def test_too_few_origins_are_a_refusal(drawn: dgd.Simulated) -> None:
    asked = Asked.of_days(drawn.panel)
    past = as_expected(18, 1)
    refused = past.promise(asked, [0], 95, 1)
    assert (refused.path_level, refused.coverage, refused.origins) == (None, None, 18)
    assert refused.lean is not None
    assert past.promise(asked, [0], 90, 1).path_level is not None


def test_origins_of_one_age_give_the_finite_sample_rank(drawn: dgd.Simulated) -> None:
    asked = Asked.of_days(drawn.panel)
    past = replace(as_expected(30, 2), origins=np.zeros(30, int))
    scores = np.sort(
        shown_at(past.drawn[:, 0, :, 0, 0, 0] + 0.0, past.recorded[0, :, 0, 0, 0] + 0.0)
    )
    for level, rank in ((50, 16), (80, 25), (95, 30)):
        assert past.promise(asked, [0], level, 1).path_level == scores[rank - 1]


def test_recent_origins_weigh_more(drawn: dgd.Simulated) -> None:
    """Wild days of half a year ago say little about next week."""
    asked, rng = Asked.of_days(drawn.panel), np.random.default_rng(5)
    recorded = np.concatenate([rng.normal(100, 60, 40).round(), rng.poisson(100, 40)]).astype(int)
    past = past_of(80, recorded, 5)
    long_ago = replace(past, origins=np.r_[np.arange(40) - 200, np.arange(40, 80)])
    alike = replace(past, origins=np.zeros(80, int))
    recent = PastDraws(
        (1,), past.drawn[:, :, 40:], past.recorded[:, 40:], past.origins[40:], past.known[:, 40:]
    )
    of_all, of_past, of_recent, alone = (
        found.promise(asked, [0], 80, 1) for found in (alike, past, long_ago, recent)
    )
    assert of_all.path_level > of_past.path_level > of_recent.path_level  # type: ignore[operator]
    assert of_recent.path_level == pytest.approx(alone.path_level, abs=0.05)
    assert of_recent.coverage == pytest.approx(alone.coverage, abs=0.05)
    assert (of_recent.origins, alone.origins) == (80, 40)


def test_days_that_may_not_be_looked_at_do_not_count(drawn: dgd.Simulated) -> None:
    asked = Asked.of_days(drawn.panel)
    past = as_expected(30, 1)
    known = past.known.copy()
    known[:, 20:] = False
    spoiled = np.where(known[..., None, None, None], past.recorded, 10**6)
    cut = PastDraws((1,), past.drawn, spoiled, past.origins, known)
    assert cut.promise(asked, [0], 80, 1).origins == 20
    assert cut.promise(asked, [0], 80, 1).path_level < 1  # type: ignore[operator]


def test_steps_ahead_need_twice_as_many_days() -> None:
    assert measured_steps(5) == (1,)
    assert measured_steps(14) == (1, 3, 7)
    assert measured_steps(60) == (1, 3, 7, 14, 28)


@pytest.mark.parametrize(
    ("levels", "said"),
    [([0.8], "80 for a share of 0.8"), ([0], "holds 0"), ([100], "holds 100"), ([80, 80], "once")],
)
def test_levels_that_are_no_per_cent_are_refused(levels: list[float], said: str) -> None:
    with pytest.raises(dgd.InputError, match=said):
        checked_levels(levels)


def test_levels_come_from_the_narrowest_on() -> None:
    assert checked_levels([95, 50]) == (50, 95)


def test_recorded_series_of_a_fit_are_those_of_its_panel(fit: dgd.Fit) -> None:
    past = fit.past(1)
    days = np.arange(7, fit.split.validation_stop)  # the first week of training warms up
    assert np.array_equal(past.recorded[0], counted_series(fit.panel.patterns[days]))
    assert past.known[0].all()
