"""Fits of many units, walked block by block: the same numbers as all at once."""

from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

import dgd
from dgd.errors import InputError
from dgd.large import block_size
from dgd.large.block_size import units_at_once
from support.large_fits import first_fit, sparse_panel

ORIGIN = np.array([35])


@pytest.fixture(scope="module")
def fit() -> dgd.Fit:
    """A fit whose states were worked out at once."""
    return at_once()


@pytest.fixture(scope="module")
def busy() -> dgd.Fit:
    """The same with effort and features, which are known further ahead."""
    return at_once(effort=True, features=True, known=48)


def at_once(**world: Any) -> dgd.Fit:
    found = first_fit(sparse_panel(32, **world))
    assert not found.in_blocks
    return found


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Panels of this page are large, and are looked at in several blocks."""
    monkeypatch.setattr(block_size, "MOST_AT_ONCE", 100)
    monkeypatch.setattr(block_size, "NUMBERS_OF_A_BLOCK", 3_300)


def test_forecasts_are_those_of_all_at_once(busy: dgd.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = busy.expected(ORIGIN, 3)
    monkeypatch.setattr(block_size, "MOST_AT_ONCE", 100)
    monkeypatch.setattr(block_size, "NUMBERS_OF_A_BLOCK", 3_300)
    parted = replace(busy)
    assert parted.in_blocks
    assert 3 <= -(-32 // units_at_once(parted.panel)) <= 12
    found = parted.expected(ORIGIN, 3)
    np.testing.assert_allclose(found.arrivals, whole.arrivals, rtol=1e-9)
    np.testing.assert_allclose(found.patterns, whole.patterns, rtol=1e-9)
    some = parted.of_units(np.array([20, 3])).of_units(["u3"]).expected(ORIGIN, 3)
    np.testing.assert_allclose(some.arrivals, whole.arrivals[:, :, :, [3]], rtol=1e-9)
    np.testing.assert_allclose(some.patterns, whole.patterns[:, :, :, [3]], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("origins", "horizon"), [(ORIGIN, 1), (np.array([31, 35]), 5)])
def test_any_origins_and_horizon_are_the_same_in_blocks(
    fit: dgd.Fit, origins: np.ndarray, horizon: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fit.expected(origins, horizon)
    monkeypatch.setattr(block_size, "MOST_AT_ONCE", 100)
    monkeypatch.setattr(block_size, "NUMBERS_OF_A_BLOCK", 3_300)
    found = replace(fit).expected(origins, horizon)
    np.testing.assert_allclose(found.arrivals, whole.arrivals, rtol=1e-9)
    np.testing.assert_allclose(found.patterns, whole.patterns, rtol=1e-9)


def test_some_units_of_a_small_fit_are_those_of_the_whole(fit: dgd.Fit) -> None:
    horizon = 3
    whole = fit.expected(ORIGIN, horizon)
    some = fit.of_units(["u20", "u3"]).expected(ORIGIN, horizon)
    np.testing.assert_array_equal(some.arrivals, whole.arrivals[:, :, :, [20, 3]])
    np.testing.assert_array_equal(some.patterns, whole.patterns[:, :, :, [20, 3]])


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
def test_after_several_origins_some_units_stand_for_all(
    fit: dgd.Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    origins = ORIGIN[0] - np.arange(4)[::-1]
    exact = replace(fit).all_ahead.following(fit.panel, origins, 3)
    monkeypatch.setattr(block_size, "MOST_WALKED", 4 * 2 * 2 * 16)
    some = replace(fit).all_ahead.following(fit.panel, origins, 3)
    first, near = (np.concatenate([x.ravel() for x in _leaves(led[0])]) for led in (exact, some))
    assert 1e-12 < np.abs(first - near).max() < 0.2


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
def test_ranges_are_drawn_for_some_units(busy: dgd.Fit) -> None:
    parted = replace(busy)
    table = parted.forecast(2, units=["u4"], paths=50, levels=[50]).to_frame()
    assert table["unit"].unique().to_list() == ["u4"]
    assert (table["arrivals_low_50"] <= table["arrivals_high_50"]).all()
    with pytest.raises(InputError, match="units at once"):
        parted.forecast(2, levels=[80])


def test_what_needs_all_units_is_refused_of_some(fit: dgd.Fit) -> None:
    some = fit.of_units(["u1", "u2"])
    with pytest.raises(InputError, match="2 of 32 units are at hand; an update needs all"):
        some.update(fit.panel)
    with pytest.raises(InputError, match="2 of 32 units are at hand; scenarios and plans"):
        some.scenario([], horizon=2)


@pytest.mark.parametrize(
    ("units", "words"),
    [
        (["u1", "nobody"], "units names nobody, which the fit does not know"),
        ([], "name at least one"),
        ("u1", "name at least one"),
        ([40], "unit number 40 is not there"),
        (["u1", "u1"], "a unit twice"),
    ],
)
def test_units_that_are_not_there_are_refused(fit: dgd.Fit, units: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        fit.forecast(1, units=units)


@pytest.mark.usefixtures("small_blocks")
def test_forecasts_of_all_that_memory_cannot_hold_are_refused(
    fit: dgd.Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dgd.large.refusals.memory", lambda: 1_000)
    with pytest.raises(InputError, match=r"forecast_to\(folder, horizon\), or name some"):
        replace(fit).forecast(2)


def test_blocks_are_no_larger_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = sparse_panel(20)
    assert units_at_once(panel) >= 20
    monkeypatch.setattr(block_size, "NUMBERS_OF_A_BLOCK", 1)
    assert units_at_once(panel) == 1


def _leaves(tree: object) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]
