"""Sparse counts say what the grid they stand for says."""

import numpy as np
import pytest

from dgd.errors import InputError
from dgd.model.bits import behavior_bits
from dgd.panel import pattern_counts
from dgd.panel.pattern_counts import PatternCounts


@pytest.fixture
def grid() -> np.ndarray:
    rng = np.random.default_rng(3)
    return rng.poisson(0.2, size=(6, 5, 3, 8))


def rows(counts: PatternCounts) -> tuple[np.ndarray, ...]:
    return counts.day, counts.unit, counts.cohort, counts.pattern, counts.count


def test_sums_are_those_of_the_grid(grid: np.ndarray) -> None:
    counts = PatternCounts.of_rows(grid.shape, *rows(PatternCounts.of(grid)))
    np.testing.assert_array_equal(counts.grid, grid)
    np.testing.assert_array_equal(counts.arrivals(), grid.sum(-1))
    np.testing.assert_array_equal(counts.behaviors(), grid @ behavior_bits(3).astype(int))
    np.testing.assert_array_equal(counts.of_cohorts(), grid.sum(1))
    assert counts.entries == np.count_nonzero(grid)


def test_days_and_units_are_parts_of_the_grid(grid: np.ndarray) -> None:
    counts = PatternCounts.of_rows(grid.shape, *rows(PatternCounts.of(grid)))
    some = np.array([4, 0, 2])
    np.testing.assert_array_equal(counts.between(2, 5).grid, grid[2:5])
    np.testing.assert_array_equal(counts.of_units(some).grid, grid[:, some])
    np.testing.assert_array_equal(counts.of_units(some).between(1, 3).grid, grid[1:3, some])
    np.testing.assert_array_equal(PatternCounts.of(grid).between(2, 5).grid, grid[2:5])


def test_rows_in_any_order_are_added_up(grid: np.ndarray) -> None:
    once = rows(PatternCounts.of(grid))
    order = np.random.default_rng(1).permutation(2 * len(once[0]))
    twice = [np.concatenate([part, part])[order] for part in once]
    np.testing.assert_array_equal(PatternCounts.of_rows(grid.shape, *twice).grid, 2 * grid)


def test_rows_of_nothing_leave_no_entry(grid: np.ndarray) -> None:
    nothing = [np.zeros(2, int)] * 5
    assert PatternCounts.of_rows(grid.shape, *nothing).entries == 0
    none = [np.zeros(0, int)] * 5
    assert PatternCounts.of_rows(grid.shape, *none).grid.sum() == 0


def test_a_grid_beyond_memory_is_refused_and_sums_are_not(
    grid: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = PatternCounts.of_rows(grid.shape, *rows(PatternCounts.of(grid)))
    monkeypatch.setattr(pattern_counts, "memory", lambda: 1000)
    with pytest.raises(InputError, match="6 days, 5 units, 3 cohorts and 8 patterns"):
        _ = counts.grid
    assert counts.arrivals().sum() == grid.sum()
