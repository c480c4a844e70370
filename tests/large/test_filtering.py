"""States of very many units, found in one pass over their days, are those of all at once."""

from typing import Any

import jax
import numpy as np
import pytest

import dgd
from dgd.large.filtering import Filtering
from dgd.model import innovations
from dgd.processes.group import ALONE
from dgd.runtime import computing
from support.large_fits import first_fit, sparse_panel


def fit_of(**world: Any) -> dgd.Fit:
    return first_fit(sparse_panel(12, days=26, rate=2.0, known=30, **world))


def filtering(fit: dgd.Fit) -> Filtering:
    return Filtering(fit.crowds[0], fit.panel, fit.features, fit.split.first, 5, ALONE)


@pytest.mark.parametrize("known", [False, True], ids=["plain", "effort and features"])
def test_every_day_of_all_units_is_as_at_once(known: bool) -> None:
    fit = fit_of(effort=known, features=known)
    with computing():
        found = filtering(fit).kept(np.arange(12), range(fit.panel.days + 1))
    assert_same(found, fit.states[0])


def test_some_units_on_some_days_are_those_of_all() -> None:
    fit, units, days = fit_of(), np.array([7, 2]), [20, 9, 9]
    with computing():
        found = filtering(fit).kept(units, days)
        whole = jax.tree.map(lambda x: x[np.array(days)], fit.states[0])
        assert_same(found, fit.crowds[0].state_of_units(whole, units))


def test_levels_of_many_cells_are_told_less_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(innovations, "MOST_APART", 20)
    fit = fit_of()
    assert fit.crowds[0].innovations is not None
    assert fit.crowds[0].innovations.places == (8, 8, 8, 0)
    with computing():
        assert_same(filtering(fit).kept(np.arange(12), range(27)), fit.states[0])
    assert np.isfinite(fit.predict(np.array([24]), 1).arrivals).all()


def assert_same(found: object, expected: object) -> None:
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
