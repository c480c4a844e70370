"""Whatever is wanted, effort stays within bounds, budget and limits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dgd.scenarios.solving import greedy
from dgd.scenarios.spending import Spending
from support.refusals import refused

SHAPE = (4, 2, 3)


def random_spending(seed: int) -> Spending:
    """Bounds, some cells fixed, and limits that hold at least the lower bounds."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 1, SHAPE) * (rng.uniform(size=SHAPE) > 0.5)
    high = low + rng.gamma(1.0, 1.0, SHAPE) * (rng.uniform(size=SHAPE) > 0.2)
    room = 1 + rng.uniform(0.0, 1.5, 3)
    days = np.where(rng.uniform(size=4) > 0.5, room[0] * low.sum((1, 2)) + 0.1, np.inf)
    units = np.where(rng.uniform(size=2) > 0.5, room[1] * low.sum((0, 2)) + 0.1, np.inf)
    return Spending(low, high, room[2] * float(low.sum()) + 0.1, days, units)


@given(seed=st.integers(0, 5000))
def test_shaped_and_lowered_effort_keeps_every_limit(seed: int) -> None:
    spending = random_spending(seed)
    rng = np.random.default_rng(seed)
    target = rng.gamma(0.5, 2.0, SHAPE) * (rng.uniform(size=SHAPE) > 0.2)
    for effort in (spending.shaped(target), spending.lowered(target)):
        assert spending.holds(effort, 1e-9)


@given(seed=st.integers(0, 5000))
def test_shaped_effort_leaves_nothing_that_could_be_spent(seed: int) -> None:
    spending = random_spending(seed)
    effort = spending.shaped(np.ones(SHAPE))
    full = spending.members @ effort.ravel() >= spending.limits * (1 - 1e-6)
    held = (spending.members[full] > 0).any(0).reshape(SHAPE)
    assert (held | (effort >= spending.high * (1 - 1e-6))).all()


@given(seed=st.integers(0, 5000))
def test_greedy_effort_keeps_every_limit_and_beats_the_even_one(seed: int) -> None:
    spending = random_spending(seed)
    if not spending.free.any():
        return
    slope = np.random.default_rng(seed).gamma(1.0, 1.0, SHAPE)
    effort = greedy(spending, slope)
    assert effort is not None
    assert spending.holds(effort, 1e-9)
    even = spending.shaped(np.ones(SHAPE))
    assert (slope * effort).sum() >= (slope * even).sum() * (1 - 1e-9)


def test_effort_rises_in_proportion_until_a_day_is_full() -> None:
    low, high = np.zeros(SHAPE), np.full(SHAPE, 10.0)
    days = np.array([3.0, np.inf, np.inf, np.inf])
    spending = Spending(low, high, 24.0, days, np.full(2, np.inf))
    effort = spending.shaped(np.ones(SHAPE))
    assert np.allclose(effort[0], 0.5)
    assert np.allclose(effort[1:], 21.0 / 18)


def test_limits_below_the_lower_bounds_are_refused() -> None:
    low, high = np.ones(SHAPE), np.full(SHAPE, 2.0)
    dates, units = np.arange("2022-01-01", "2022-01-05", dtype="datetime64[D]"), ("north", "south")
    free = (np.full(4, np.inf), np.full(2, np.inf))
    with refused("budget", "20", "24"):
        Spending(low, high, 20.0, *free).refuse_impossible(dates, units)
    with refused("per_day", "2022-01-01", "6"):
        Spending(low, high, 40.0, np.full(4, 5.0), free[1]).refuse_impossible(dates, units)
    with refused("per_unit", "north", "12"):
        Spending(low, high, 40.0, free[0], np.full(2, 5.0)).refuse_impossible(dates, units)
