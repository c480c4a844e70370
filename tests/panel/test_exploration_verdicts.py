"""A verdict follows from its evidence: what moves, what remembers, and what is missing."""

from dataclasses import replace

import pytest

from dgd.panel.exploration.movement import Movement
from dgd.panel.exploration.needed import (
    periods_to_remember,
    periods_to_see,
    seen_movement,
    smallest_movement,
)
from dgd.panel.exploration.verdicts import Evidence, judge
from dgd.tables.periods import PERIODS

STILL = Movement(
    periods=100,
    variance_ratio=1.0,
    p_value=0.5,
    freedom=93.0,
    autocorrelation=0.0,
    chance_band=0.2,
)
MOVED = replace(STILL, variance_ratio=2.0, p_value=1e-6)


def evidence(*levels: Movement, **changes: float) -> Evidence:
    found = Evidence(
        levels=levels,
        sharpness=100.0,
        counted=100,
        arrivals=500.0,
        seasons=7,
        fewest=21,
        period=PERIODS["day"],
    )
    return replace(found, **changes)


@pytest.mark.parametrize(
    ("levels", "outcome"),
    [
        ([STILL, STILL], "chance"),
        ([MOVED, STILL], "shocks"),
        ([replace(MOVED, autocorrelation=0.4), STILL], "drift"),
        ([replace(MOVED, autocorrelation=-0.4), STILL], "swing"),
        ([replace(MOVED, autocorrelation=0.1, chance_band=0.05)], "faint"),
        ([replace(STILL, autocorrelation=0.25)], "chance"),
        ([replace(STILL, autocorrelation=0.35)], "drift"),
        ([STILL, replace(MOVED, autocorrelation=0.4)], "drift"),
    ],
)
def test_the_outcome_is_that_of_the_levels(levels: list[Movement], outcome: str) -> None:
    assert judge(evidence(*levels)).outcome == outcome


def test_two_looks_need_twice_the_evidence() -> None:
    hardly = replace(STILL, p_value=0.008)
    assert evidence(hardly).p_value == 0.008
    assert evidence(hardly, STILL).p_value == 0.016
    assert evidence(hardly).moved == [hardly]
    assert evidence(hardly, STILL).moved == []


def test_a_small_movement_needs_more_days_before_its_memory_can_be_told() -> None:
    small = replace(MOVED, variance_ratio=1.3)
    told = judge(evidence(small))
    assert told.sentence == (
        "varies from day to day, but too few days to tell whether yesterday tells about today: "
        f"100 days, about {told.periods_needed} needed"
    )
    assert told.periods_needed is not None
    assert judge(evidence(replace(small, periods=told.periods_needed))).outcome == "too few"
    later = replace(small, periods=1000, chance_band=0.2 * 0.1**0.5)
    assert judge(evidence(later, counted=1000)).outcome == "shocks"


def test_nobody_is_told_to_wait_for_ten_years() -> None:
    told = judge(evidence(replace(MOVED, variance_ratio=1.01)))
    assert told.periods_needed is None
    assert "more than 10 years needed" in told.sentence


def test_too_few_arrivals_are_told_with_how_many_would_do() -> None:
    told = judge(evidence(STILL, sharpness=1.0, arrivals=10.0))
    assert told.sentence == "too few arrivals to tell: 10 a day, about 40 needed"
    assert judge(evidence(STILL, sharpness=4.0, arrivals=40.0)).outcome == "chance"


def test_days_without_departures_do_not_count() -> None:
    told = judge(evidence(replace(MOVED, periods=15)))
    assert told.sentence.startswith("too few days to tell: 15 days, about ")


def test_days_needed_fall_with_sharpness_and_size() -> None:
    to_see = [periods_to_see(sharpness, 7) for sharpness in (1.0, 100.0, 300.0, 1000.0)]
    assert to_see == sorted(to_see, reverse=True)
    assert 60 < to_see[0] < 100
    to_remember = [periods_to_remember(replace(MOVED, variance_ratio=r)) for r in (1.2, 2.0, 5.0)]
    assert to_remember == sorted(to_remember, reverse=True)


def test_the_size_of_a_movement_is_measured_in_rates() -> None:
    assert seen_movement(MOVED, 100.0) == pytest.approx(0.1)
    assert seen_movement(STILL, 100.0) == 0.0
    assert 0.05 < smallest_movement(STILL, 100.0) < 0.1
