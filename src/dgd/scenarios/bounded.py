"""Crowds that stay where recorded days have taken them, or a little beyond.

What memory, fatigue and shift do to people was learned within the range that they had. A plan that
drives them far out of it would be paid by a formula, not by anything that was ever seen, and the
longer the horizon the further it could drive them. So states of a changed future are held within
the range of the recorded days, and a quarter of it more.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import jax
import jax.numpy as jnp

from dgd.forecasting.rollout import states_at_dawn
from dgd.model.crowd import Crowd
from dgd.model.feedback.feedback import State
from dgd.panel.sequences import recorded_days
from dgd.scenarios.planned_fit import ExpectingFit

BEYOND = 0.25
"""How far beyond the range that was seen a state may go, in ranges."""


class BoundedCrowd(Crowd):
    """A crowd whose states are held between two ends after every day."""

    low: State | None = None
    high: State | None = None

    def advance(self, state: State, *day: Any) -> State:
        """The state a day later, held within its ends."""
        following = super().advance(state, *day)
        held: State = jax.tree.map(jnp.clip, _moved_by_days(following), self.low, self.high)
        return replace(held, innovations=following.innovations)


def bounded(crowd: Crowd, states: State) -> BoundedCrowd:
    """The crowd, held near the range of its `states` on recorded days."""
    states = _moved_by_days(states)
    low = jax.tree.map(lambda x: x.min(0, keepdims=True), states)
    high = jax.tree.map(lambda x: x.max(0, keepdims=True), states)
    beyond = jax.tree.map(lambda least, most: BEYOND * (most - least), low, high)
    return BoundedCrowd(
        **{part.name: getattr(crowd, part.name) for part in fields(crowd)},
        low=jax.tree.map(lambda end, more: end - more, low, beyond),
        high=jax.tree.map(lambda end, more: end + more, high, beyond),
    )


def _moved_by_days(states: State) -> State:
    """What days ahead can move: innovations know nothing of them."""
    return replace(states, innovations=None)


def held_near(
    fit: ExpectingFit, drawn: Sequence[Crowd], day: int
) -> tuple[list[Crowd], list[State]]:
    """Other parameters than the fit's, held near where the days through `day` take them, and what
    they carry into the day after it."""
    first = fit.split.first
    if day < first:
        return list(drawn), [crowd.at_rest() for crowd in drawn]
    days = recorded_days(fit.panel, fit.features, first, day + 1, fit.settings.dispersion)
    paths = [states_at_dawn(crowd, *days) for crowd in drawn]
    crowds: list[Crowd] = [bounded(*pair) for pair in zip(drawn, paths, strict=True)]
    return crowds, [_last(states) for states in paths]


def _last(states: State) -> State:
    found: State = jax.tree.map(lambda x: x[-1:], states)
    return found
