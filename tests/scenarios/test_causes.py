"""The four causes of a difference add up to it, whatever the numbers are."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgd
from dgd.model.days import Prediction
from dgd.runtime import computing
from dgd.scenarios import Change, scenario
from dgd.scenarios.causes import CAUSES, shapley, split_of
from dgd.scenarios.expecting import mean_series

PLACES = [(0, 0), (0, 1), (1, 0), (1, 1)]


def crossed(seed: int, empty: float) -> dict[tuple[int, int], tuple[Prediction, ...]]:
    """Random predictions of two seeds; some cells, and by chance whole days, are empty."""
    rng = np.random.default_rng(seed)

    def one() -> Prediction:
        arrivals = rng.gamma(1.0, 20.0, (3, 2, 3)) * (rng.uniform(size=(3, 2, 3)) > empty)
        patterns = np.moveaxis(rng.dirichlet(np.ones(4), (3, 2, 3)), -1, 0)
        return Prediction(jnp.asarray(arrivals), jnp.asarray(patterns))

    return {place: (one(), one()) for place in PLACES}


def totals(seeds: tuple[Prediction, ...]) -> np.ndarray:
    return mean_series(seeds).sum((1, 2))


@given(seed=st.integers(0, 10_000), empty=st.sampled_from([0.0, 0.3, 0.9]))
def test_causes_add_up_exactly(seed: int, empty: float) -> None:
    with computing():
        found = crossed(seed, empty)
        before, after = totals(found[0, 0]), totals(found[1, 1])
        causes = split_of(found)
    scale = np.abs(before) + np.abs(after) + np.abs(causes).sum(1)
    assert np.all(np.abs(causes.sum(1) - (after - before)) <= 1e-9 * scale)


@given(seed=st.integers(0, 10_000))
def test_arrivals_change_by_contacts_and_states_alone(seed: int) -> None:
    with computing():
        causes = split_of(crossed(seed, 0.0))
    assert np.allclose(causes[:, 1:3, 0], 0.0, atol=1e-9)


def test_what_does_not_change_causes_nothing() -> None:
    with computing():
        one = crossed(1, 0.0)[0, 0]
        causes = split_of(dict.fromkeys(PLACES, one))
    assert np.allclose(causes, 0.0, atol=1e-12)


def test_a_player_who_adds_always_the_same_gets_just_that() -> None:
    values = {(a, b): np.array([[3.0 * a + 5.0 * b + 2.0 * a * b]]) for a in (0, 1) for b in (0, 1)}
    assert shapley(values)[0, :, 0].tolist() == [4.0, 6.0]


@pytest.mark.parametrize("what", ["effort", "size"])
def test_the_split_of_a_scenario_adds_up(two_seeds: dgd.Fit, what: str) -> None:
    changes = [Change(what, "multiply", 1.7, cohorts="casual"), Change(what, "multiply", 0.4)]
    found = scenario(two_seeds, changes, 5, paths=0)
    for by in ("date", "total"):
        table = found.split(by)
        parts = table.select(CAUSES).to_numpy().sum(1)
        size = table["difference"].abs().max()
        assert np.allclose(parts, table["difference"], rtol=1e-9, atol=1e-9 * size)
    assert not np.allclose(found.causes[:, 3, 1:], 0.0), "states are changed by what came before"
    assert np.allclose(found.causes[:, 2], 0.0), "no feature changed"
    assert np.allclose(found.causes[0, 3], 0.0), "the first day has no days before it"
