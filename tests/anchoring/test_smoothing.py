"""Smoothers: medians that a holiday does not move, deviations that fade, one list of candidates."""

import numpy as np
import pytest

from dgd.anchoring.smoothing.deviations import DEVIATING, SETTLED, Deviations
from dgd.anchoring.smoothing.medians import LOOK_BACK, Medians
from dgd.anchoring.smoothing.smoothers import are_means, candidates, smoothed_days


def test_a_median_is_that_of_the_last_days_of_its_weekday() -> None:
    arrivals = np.random.default_rng(0).poisson(20.0, (60, 2)).astype(float)
    medians = Medians(2, 7)
    for day, today in enumerate(arrivals):
        medians.see(today, day % 7)
    own = arrivals[np.arange(60) % 7 == 3]
    expected = [np.median(own[-days:], 0) for days in LOOK_BACK]
    np.testing.assert_array_equal(medians.ahead(3), expected)


def test_one_closed_day_does_not_move_a_median() -> None:
    medians = Medians(1, 7)
    for week in range(8):
        for place in range(7):
            medians.see(np.array([0.0 if (week, place) == (7, 2) else 50.0]), place)
    np.testing.assert_array_equal(medians.ahead(2), np.full((len(LOOK_BACK), 1), 50.0))


def test_a_weekday_never_seen_is_like_the_last_day() -> None:
    medians = Medians(1, 7)
    medians.see(np.array([12.0]), 0)
    np.testing.assert_array_equal(medians.ahead(4), np.full((len(LOOK_BACK), 1), 12.0))


def test_deviations_fade_by_their_retention() -> None:
    """After many days at twice the base, a step ahead is raised by phi, two by its square."""
    followed, base = Deviations(1, 1), np.array([[100.0]])
    for _ in range(SETTLED + 200):
        followed.see(np.array([200.0]), base)
    raised = {step: np.log(followed.ahead(base, step)[:, 0] / 100.0) for step in (1, 2, 7)}
    for number, (retention, gain) in enumerate(DEVIATING):
        off = np.log(210.5 / 110.5)  # a constant of half and a twentieth of the mean
        settled = gain * off / (1 - retention * (1 - gain))
        assert raised[1][number] == pytest.approx(retention * settled, rel=1e-6)
        assert raised[2][number] == pytest.approx(retention**2 * settled, rel=1e-6)
        assert raised[7][number] == pytest.approx(retention**7 * settled, rel=1e-6)


def test_deviations_wait_until_their_base_is_settled() -> None:
    followed, base = Deviations(1, 1), np.array([[10.0]])
    for _ in range(SETTLED):
        followed.see(np.array([40.0]), base)
    np.testing.assert_array_equal(followed.ahead(base, 1), np.full((len(DEVIATING), 1), 10.0))


@pytest.mark.parametrize("cycle", [1, 7])
def test_every_candidate_forecasts(cycle: int) -> None:
    arrivals = np.random.default_rng(1).poisson(9.0, (30, 4)).astype(float)
    *_, last = smoothed_days(arrivals, np.arange(30) % cycle, cycle)
    expected = last.ahead(0, 3)
    assert expected.shape == (candidates(cycle), 4)
    assert np.isfinite(expected).all()
    assert (expected > 0).all()
    assert len(are_means(cycle)) == candidates(cycle)
