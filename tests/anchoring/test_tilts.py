"""Tilts: beliefs against a brute-force posterior, weekdays found, shocks not believed."""

import numpy as np
import pytest
from scipy.optimize import minimize

from dgd.anchoring import tilts
from dgd.anchoring.chains import normalized
from dgd.anchoring.levels import Level
from dgd.anchoring.tilts import Tilt, ahead, candidate_tilts, filtered, shock_variance, tilted
from dgd.model.bits import behavior_bits


def world(shift: np.ndarray, arrivals: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Counts of one cell with two behaviours, whose log-odds move by `shift` [day, behaviour]."""
    rng = np.random.default_rng(seed)
    base = np.array([0.4, 0.3, 0.2, 0.1])
    expected = np.broadcast_to(base, (len(shift), 1, 1, 4)).copy()
    truth = tilted(expected, shift[:, None, None, :])
    counts = np.stack([rng.multinomial(arrivals, p[0, 0]) for p in truth])[:, None, None, :]
    return counts.astype(float), expected


def test_the_first_belief_is_the_posterior_mode() -> None:
    """One day, a normal belief and a multinomial: the filter's step against a numerical optimum."""
    counts, expected = world(np.zeros((2, 2)), 400, seed=3)
    counts[1, 0, 0] = [120, 130, 90, 60]
    variance = 0.003  # small, so that one step of Newton is the optimum to three digits
    tilt = Tilt("all", 0.5, 1.0, 0.0)
    found = filtered(counts, expected, np.zeros(2, int), 1, [tilt], {"all": variance})[tilt]
    bits = behavior_bits(2)

    def against(s: np.ndarray) -> float:
        p = normalized(expected[1, 0, 0] * np.exp(bits @ s))
        return float(-(counts[1, 0, 0] * np.log(p)).sum() + (s**2).sum() / (2 * variance))

    np.testing.assert_allclose(found[1, 0, 0, 0], minimize(against, np.zeros(2)).x, rtol=0.03)


def test_a_weekday_effect_is_found_and_comes_back() -> None:
    days = np.arange(70)
    shift = np.zeros((70, 2))
    shift[days % 7 == 2, 0] = 1.0
    counts, expected = world(shift, 300)
    tilt = Tilt("all", 0.0, 0.0, 0.3)
    beliefs = filtered(counts, expected, days % 7, 7, [tilt], {"all": 1e-4})[tilt]
    added = np.array(
        [ahead(beliefs[-1:], tilt, 1, np.array([place]))[0, 0, 0] for place in range(7)]
    )
    assert 0.8 < added[2, 0] < 1.1
    assert np.abs(np.delete(added, 2, 0)).max() < 0.2


def test_a_level_fades_with_the_days_ahead() -> None:
    counts, expected = world(np.full((30, 2), 0.5), 500)
    tilt = Tilt("all", 0.8, 1.0, 0.0)
    beliefs = filtered(counts, expected, np.zeros(30, int), 1, [tilt], {"all": 0.2})[tilt]
    place = np.zeros(1, int)
    one, three = (ahead(beliefs[-1:], tilt, step, place)[0, 0, 0] for step in (1, 3))
    assert (one > 0.3).all()
    np.testing.assert_allclose(three, one * 0.8**2, rtol=1e-12)


def test_tilts_filtered_together_are_those_filtered_alone() -> None:
    rng = np.random.default_rng(2)
    counts = rng.poisson(5.0, (20, 2, 3, 4)).astype(float)
    expected = normalized(rng.uniform(0.1, 1, counts.shape))
    levels: tuple[Level, ...] = ("all", "cohort", "unit", "cell")
    every = [t for name in levels for t in candidate_tilts(name, swings=True, weekdays=True)]
    variances: dict[Level, float] = {"all": 0.1, "cohort": 0.2, "unit": 0.1, "cell": 0.3}
    together = filtered(counts, expected, np.arange(20) % 7, 7, every, variances)
    assert set(together) == set(every)
    for tilt in every[::9]:
        alone = filtered(counts, expected, np.arange(20) % 7, 7, [tilt], variances)[tilt]
        np.testing.assert_allclose(together[tilt], alone, rtol=1e-9, atol=1e-12)


def test_the_shocks_of_days_are_measured() -> None:
    rng = np.random.default_rng(5)
    quiet, expected = world(np.zeros((400, 2)), 200)
    loud, _ = world(rng.normal(0, 0.4, (400, 2)), 200)
    assert shock_variance(quiet, expected, "all") < 0.01
    assert 0.08 < shock_variance(loud, expected, "all") < 0.24


@pytest.mark.parametrize(
    ("swings", "weekdays", "count"), [(True, True, 14), (False, True, 3), (False, False, 0)]
)
def test_parts_that_are_not_asked_for_are_no_candidates(swings, weekdays, count) -> None:
    assert len(candidate_tilts("all", swings=swings, weekdays=weekdays)) == count


@pytest.mark.parametrize(("level", "axis"), [("unit", 1), ("cohort", 2)])
def test_a_group_moves_by_what_its_own_cells_show(level: Level, axis: int) -> None:
    """A unit's (a cohort's) beliefs are those of a panel that holds nothing else."""
    rng = np.random.default_rng(2)
    counts = rng.poisson(5.0, (20, 2, 3, 4)).astype(float)
    expected = normalized(rng.uniform(0.1, 1, counts.shape))
    tilt, place = Tilt(level, 0.6, 0.5, 0.01), np.arange(20) % 7
    together = filtered(counts, expected, place, 7, [tilt], {level: 0.2})[tilt]
    one = [np.take(of, [1], axis) for of in (counts, expected)]
    alone = filtered(*one, place, 7, [Tilt("all", *tilt[1:])], {"all": 0.2})
    own = np.take(together, [1], axis)
    np.testing.assert_allclose(own, next(iter(alone.values())), rtol=1e-9, atol=1e-12)


def test_units_in_blocks_are_those_filtered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    counts = rng.poisson(5.0, (12, 5, 2, 4)).astype(float)
    expected = normalized(rng.uniform(0.1, 1, counts.shape))
    tilt = Tilt("cell", 0.6, 0.5, 0.0)
    given = (counts, expected, np.zeros(12, int), 1, [tilt], {"cell": 0.2})
    whole = filtered(*given)[tilt]
    monkeypatch.setattr(tilts, "MOST_FILTERED", 20)
    np.testing.assert_array_equal(filtered(*given)[tilt], whole)
