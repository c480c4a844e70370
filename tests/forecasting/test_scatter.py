"""Shocks are found where days share them, and not where chance alone is at work."""

import numpy as np
import pytest

from dgd.forecasting.scatter import Errors, Scatter, Shocks
from dgd.model.bits import behavior_bits

DAYS, UNITS, COHORTS = 400, 2, 3
MEAN = np.linspace(20.0, 60.0, UNITS * COHORTS).reshape(UNITS, COHORTS)
PATTERNS = np.array([0.4, 0.2, 0.25, 0.15])


def errors_of(
    rng: np.random.Generator, shared: float = 0.0, own: float = 0.0, answers: float = 0.0
) -> Errors:
    """Days whose arrivals and answers are shaken by the given standard deviations."""
    busy = np.exp(shared * rng.standard_normal((DAYS, 1, 1)) - shared**2 / 2)
    if own:
        busy = busy * rng.gamma(1 / own**2, own**2, (DAYS, UNITS, COHORTS))
    moved = answers * rng.standard_normal((DAYS, 2)) @ behavior_bits(2).T
    odds = PATTERNS * np.exp(moved)
    q = (odds / odds.sum(-1, keepdims=True))[:, None, None]
    arrivals = rng.poisson(busy * MEAN)
    counts = rng.multinomial(arrivals, np.broadcast_to(q, (DAYS, UNITS, COHORTS, 4)))
    expected = np.broadcast_to(MEAN, (DAYS, UNITS, COHORTS)).copy()
    return Errors(expected, np.broadcast_to(PATTERNS, counts.shape).copy(), counts)


@pytest.mark.parametrize("shared", [0.1, 0.25])
def test_a_shock_that_all_cells_share_is_measured(shared: float) -> None:
    found = Scatter.measured({1: errors_of(np.random.default_rng(1), shared=shared)}).at(1)
    assert np.sqrt(found.arrivals) == pytest.approx(shared, rel=0.15)
    assert (found.cells < 0.005).all()


def test_scatter_of_single_cells_is_not_taken_for_a_shared_shock() -> None:
    found = Scatter.measured({1: errors_of(np.random.default_rng(2), own=0.3)}).at(1)
    assert np.sqrt(found.cells) == pytest.approx(np.full(COHORTS, 0.3), rel=0.2)
    assert np.sqrt(found.arrivals) < 0.05


def test_days_that_answer_differently_are_measured() -> None:
    found = Scatter.measured({1: errors_of(np.random.default_rng(3), answers=0.3)}).at(1)
    assert np.sqrt(found.behaviors) == pytest.approx(np.full(2, 0.3), rel=0.25)


def test_where_chance_alone_is_at_work_next_to_nothing_is_found() -> None:
    found = Scatter.measured({1: errors_of(np.random.default_rng(4))}).at(1)
    assert np.sqrt(found.arrivals) < 0.03
    assert (found.cells < 0.003).all()
    assert (np.sqrt(found.behaviors) < 0.06).all()


def test_a_holiday_among_many_days_decides_nothing() -> None:
    errors = errors_of(np.random.default_rng(5), shared=0.1)
    errors.recorded[7] *= 20
    calm = Scatter.measured({1: errors_of(np.random.default_rng(5), shared=0.1)}).at(1)
    found = Scatter.measured({1: errors}).at(1)
    assert found.arrivals == pytest.approx(calm.arrivals, rel=0.05)


def test_further_ahead_days_scatter_no_less_and_go_on_growing() -> None:
    rng = np.random.default_rng(6)
    found = Scatter.measured(
        {
            1: errors_of(rng, shared=0.1),
            3: errors_of(rng, shared=0.05),
            7: errors_of(rng, shared=0.2),
        }
    )
    grown = [found.at(step).arrivals for step in (1, 2, 3, 5, 7, 14, 28)]
    assert grown == sorted(grown)
    assert grown[-1] > grown[4]
    assert found.at(10_000).arrivals <= 1.0


def test_drawn_shocks_have_the_sizes_and_the_memory_they_were_given() -> None:
    scatter = Scatter(
        (1,), np.array([0.04]), np.full((1, COHORTS), 0.09), np.array([[0.25, 0.04]]),
        0.6, 0.5, np.array([[1.0, 0.4], [0.4, 1.0]]),
    )  # fmt: skip
    shocks = Shocks(scatter, np.random.default_rng(7), (20_000,))
    days = [shocks.busyness(step, UNITS) for step in (1, 2)]
    for busy in days:
        assert busy.mean() == pytest.approx(1.0, rel=0.02)
        assert busy[:, 0, 0].var() == pytest.approx(1.09 * np.exp(0.04) - 1, rel=0.06)
    logs = [np.log(busy.mean((1, 2))) for busy in days]
    cells = 0.09 / (UNITS * COHORTS)
    assert np.cov(*logs)[0, 1] == pytest.approx(0.6 * 0.04, rel=0.1)
    assert logs[0].var() == pytest.approx(0.04 + cells, rel=0.1)


def test_shaken_answers_keep_their_rates_on_average() -> None:
    scatter = Scatter(
        (1,), np.zeros(1), np.zeros((1, 1)), np.array([[0.25, 0.25]]), 0.0, 0.0, np.eye(2)
    )
    rates = np.array([0.1, 0.5])
    alone = np.outer([1 - rates[1], rates[1]], [1 - rates[0], rates[0]]).ravel()
    odds = alone * Shocks(scatter, np.random.default_rng(8), (40_000,)).answering(1, rates)
    shown = odds / odds.sum(-1, keepdims=True) @ behavior_bits(2)
    assert shown.mean(0) == pytest.approx(rates, rel=0.02)
    assert shown.std(0) == pytest.approx(0.5 * rates * (1 - rates), rel=0.15)


def test_a_given_dispersion_shares_nothing() -> None:
    found = Scatter.given(50.0, COHORTS, 2)
    assert found.at(9).arrivals == 0
    assert found.at(9).cells == pytest.approx(np.full(COHORTS, 0.02))
    assert not found.at(9).behaviors.any()
