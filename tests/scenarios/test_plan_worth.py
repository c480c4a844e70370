"""What a plan is worth: the numbers of a scenario, with the right slope."""

from dataclasses import replace

import numpy as np
import pytest

import dgd
from dgd.scenarios.expecting import Expecting
from dgd.scenarios.future import Outlook
from dgd.scenarios.plan_worth import order_weights, worth_of

WEIGHTS = np.array([0.1, 1.0, -0.5])


@pytest.fixture(scope="module")
def expecting(two_seeds: dgd.Fit) -> Expecting:
    return Expecting.of(two_seeds, Outlook.of(two_seeds, 5))


def efforts(expecting: Expecting, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return expecting.outlook.planned.effort * rng.uniform(0.5, 2.0, (5, 2, 2))


@pytest.mark.parametrize("seed", range(3))
def test_the_worth_of_effort_is_that_of_its_scenario(
    two_seeds: dgd.Fit, expecting: Expecting, seed: int
) -> None:
    effort = efforts(expecting, seed)
    worth = worth_of(two_seeds, expecting, 5, WEIGHTS, None, 0)
    future = replace(expecting.outlook.planned, effort=effort)
    expected = expecting.series(future).sum((0, 1, 2)) @ WEIGHTS
    assert np.isclose(worth(effort)[0], expected, rtol=1e-10)


@pytest.mark.parametrize("quantile", [None, 0.3])
def test_slopes_are_those_of_finite_differences(
    two_seeds: dgd.Fit, expecting: Expecting, quantile: float | None
) -> None:
    worth = worth_of(two_seeds, expecting, 5, WEIGHTS, quantile, 0)
    effort = efforts(expecting, 7)
    slope = worth(effort)[1]
    for at in [(0, 0, 0), (1, 1, 1), (3, 0, 1), (4, 1, 0)]:
        step = np.zeros_like(effort)
        step[at] = 1e-5 * effort[at]
        found = (worth(effort + step)[0] - worth(effort - step)[0]) / (2 * step[at])
        assert np.isclose(slope[at], found, rtol=1e-5, atol=1e-7), at


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.8])
def test_weights_of_draws_sum_to_one_around_their_quantile(quantile: float) -> None:
    weights = order_weights(24, quantile)
    assert np.isclose(weights.sum(), 1.0)
    place = (np.arange(24) + 0.5) / 24
    assert abs(weights @ place - quantile) < 0.03
