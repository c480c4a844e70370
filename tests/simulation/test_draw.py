"""The simulator draws what its truth says, and a fit finds that truth again."""

import numpy as np
import pytest
from scipy import stats

import dgd


def test_the_same_seed_draws_the_same_counts():
    world = dgd.example_world(arrivals=10)
    first, again, other = (dgd.simulate(world, 12, seed=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.panel.patterns, again.panel.patterns)
    assert not np.array_equal(first.panel.patterns, other.panel.patterns)


@pytest.fixture(scope="module")
def first_days():
    """The first day many times over: nothing was recorded before it, so its truth is one."""
    shops = [f"shop {number}" for number in range(12)]
    world = dgd.example_world(units=shops, arrivals=30)
    return world, [dgd.simulate(world, 1, seed=s) for s in range(50)]


def test_arrivals_have_the_true_mean_and_negative_binomial_variance(first_days):
    world, drawn = first_days
    arrivals = np.stack([d.panel.arrivals[0] for d in drawn])
    mean = drawn[0].arrivals[0]
    spread = mean + mean**2 / world.dispersion
    standard = (arrivals.mean(0) - mean) / np.sqrt(spread / len(arrivals))
    assert np.abs(standard).max() < 4
    scaled = ((arrivals - mean) ** 2 / spread).mean()
    assert scaled == pytest.approx(1.0, abs=0.12)


def test_patterns_follow_the_true_joint_probabilities(first_days):
    _, drawn = first_days
    counts = np.sum([d.panel.patterns[0] for d in drawn], axis=0)
    expected = drawn[0].patterns[0] * counts.sum(-1, keepdims=True)
    chi = ((counts - expected) ** 2 / expected).sum()
    freedom = counts.size - counts[..., 0].size
    assert stats.chi2.sf(chi, freedom) > 1e-3


def test_truth_table_holds_every_cell_and_sums_to_one():
    drawn = dgd.simulate(dgd.example_world(arrivals=10), 5, seed=1)
    truth = drawn.truth_to_frame()
    assert truth.height == 5 * 2 * 3 * 8
    totals = truth.group_by("date", "unit", "cohort").sum()["probability"]
    assert len(totals) == 30
    np.testing.assert_allclose(totals, 1.0, atol=1e-12)
    assert all(np.abs(np.asarray(state)).max() > 0 for state in drawn.states.carried.values())


def test_a_day_is_drawn_from_its_truth_given_the_days_before(drawn):
    """Expected arrivals of all days and counts agree; the state at rest comes first."""
    arrivals, mean = drawn.panel.arrivals, drawn.arrivals
    spread = mean + mean**2 / drawn.world.dispersion
    assert (arrivals - mean).sum() / np.sqrt(spread.sum()) == pytest.approx(0, abs=4)
    assert ((arrivals - mean) ** 2 / spread).mean() == pytest.approx(1.0, abs=0.35)
    assert not np.asarray(drawn.states.carried["memory"])[0].any()
    assert len(drawn.states.carried["memory"]) == drawn.panel.days


def test_zero_effort_draws_nothing():
    world = dgd.example_world(arrivals=10)
    effort = np.ones((4, 2, 3))
    effort[2] = 0.0
    drawn = dgd.simulate(world, 4, seed=1, effort=effort)
    assert drawn.panel.arrivals[2].sum() == 0
    assert drawn.panel.arrivals[3].sum() > 0


@pytest.mark.long
def test_truth_is_recovered_better_than_without_dynamics():
    """Joint KL to the true probabilities on test days, for every seed."""
    drawn = dgd.simulate(dgd.example_world(), 90, seed=2)
    dates = drawn.panel.dates
    ends = {"train_end": dates[62], "validation_end": dates[76]}
    days = np.arange(77, 90)
    true = drawn.patterns[days]

    def divergence(**changes):
        model = dgd.DGD(epochs=80, patience=20, start="warmup", **changes)
        patterns = model.fit(drawn.panel, **ends, seeds=[1, 2]).predict(days - 1, 1).patterns
        return (true * np.log(true / patterns[:, 0])).sum(-1).mean((1, 2, 3))

    with_dynamics, without = divergence(), divergence(dynamics="none")
    assert (with_dynamics < without).all()
    assert with_dynamics.mean() < 0.01


@pytest.mark.parametrize("days", [0, -1, 100_001, 10**22])
def test_no_days_and_too_many_are_refused(days: int) -> None:
    with pytest.raises(dgd.InputError, match=f"days is {days}; draw at least one and at most"):
        dgd.simulate(dgd.example_world(), days, seed=1)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(dgd.InputError, match="seed -1 is not a whole number"):
        dgd.simulate(dgd.example_world(), 3, seed=-1)
