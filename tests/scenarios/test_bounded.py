"""States of a changed future stay near where recorded days have taken them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import jax
import numpy as np

import dgd
from dgd.runtime import computing
from dgd.scenarios.bounded import BEYOND, bounded
from dgd.scenarios.expecting import Expecting
from dgd.scenarios.future import Outlook
from scenarios.known_crowds import proportional, tiring

Known = Callable[..., dgd.Fit]
TIRED = partial(tiring, effect=-2.0)


def test_states_are_held_within_their_range_and_a_quarter_more(known: Known) -> None:
    fit = known(TIRED, proportional)
    states = fit.states[0]
    with computing():
        crowd = bounded(fit.crowds[0], states)
    for name, path in states.carried.items():
        least, most = np.asarray(path).min(0), np.asarray(path).max(0)
        room = BEYOND * (most - least)
        np.testing.assert_allclose(crowd.low.carried[name][0], least - room)
        np.testing.assert_allclose(crowd.high.carried[name][0], most + room)


def test_no_effort_drives_them_further(known: Known) -> None:
    """A thousandfold effort for a month, and still nobody is more tired than the ends allow."""
    fit = known(TIRED, proportional)
    outlook = Outlook.of(fit, 28)
    expecting = Expecting.of(fit, outlook)
    wild = replace(outlook.planned, effort=1000 * outlook.planned.effort + 1000)
    walked = replace(expecting.walks(wild)[0].states, innovations=None)
    crowd = expecting.crowds[0]

    def within(path: jax.Array, low: jax.Array, high: jax.Array) -> bool:
        later, least, most = (np.asarray(x) for x in (path, low, high))
        return bool(((later[1:] >= least - 1e-12) & (later[1:] <= most + 1e-12)).all())

    assert all(jax.tree.leaves(jax.tree.map(within, walked, crowd.low, crowd.high)))


def test_recorded_days_themselves_are_not_moved(known: Known) -> None:
    """The future as planned starts inside, so its first day is the model's own."""
    fit = known(TIRED, proportional)
    outlook = Outlook.of(fit, 3)
    expecting = Expecting.of(fit, outlook)
    own = fit.unanchored.predict(np.array([outlook.day]), 1, outlook.panel)
    np.testing.assert_allclose(
        np.asarray(expecting.planned[0].prediction.arrivals)[0], own.arrivals[0, 0, 0], rtol=1e-10
    )
