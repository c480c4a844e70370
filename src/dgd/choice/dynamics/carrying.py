r"""What places carry from period to period, by the carried states of the core.

.. math:: x_{p,t+1} = \rho\, x_{p,t} + u(v_{p,t}, o_{p,t}), \qquad
    x_{p,0} = x^* = \frac{u(v^0, o^0)}{1 - \rho}

A place begins where it settles when every period is as those of all places are in the mean
(v0, o0), and it moves people by how far it has gone from there. Tastes of the utility are thus
those of usual times.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dgd.choice.dynamics.purchases import Usual
from dgd.model.feedback.carried_state import AbstractCarriedState
from dgd.model.feedback.signals import Signals
from dgd.model.sweep import carry_over

CarriedParts = Sequence[AbstractCarriedState]
"""Memory, fatigue and shift, or some of them; one may use those before it."""


class Moved(NamedTuple):
    """How far its past has moved the people of a place, or of a market."""

    tastes: Float[Array, "*place attribute"]
    """What is added to everyone's tastes."""
    propensity: Float[Array, "*place dim"]
    """What is added to everyone's propensity, and so to tastes and price sensitivity."""

    def at(self, *index: Int[Array, " market"]) -> "Moved":
        """That of the place, or the period and place, of every market."""
        return Moved(self.tastes[index], self.propensity[index])


def settled(parts: CarriedParts, usual: Usual) -> dict[str, Float[Array, "1 place ..."]]:
    """x*: what places carry after many usual periods."""
    found: dict[str, Array] = {}
    for part in parts:
        added = part.input(usual.common, found, usual.reference)
        found[part.name] = added / (1.0 - part.retention)
    return found


def paths(
    parts: CarriedParts, signal: Signals, usual: Usual
) -> dict[str, Float[Array, "period_and_one place ..."]]:
    """What places carry at the beginning of every period, and of the one after the last."""
    start = settled(parts, usual)
    found: dict[str, Array] = {}
    today: dict[str, Array] = {}
    for part in parts:
        added = part.input(signal, today, usual.reference)
        found[part.name] = carry_over(part.retention, start[part.name], added)
        today[part.name] = found[part.name][1:]
    return found


def advanced(
    parts: CarriedParts,
    carried: Mapping[str, Float[Array, "period place ..."]],
    signal: Signals,
    usual: Usual,
) -> dict[str, Float[Array, "period place ..."]]:
    """What places carry a period later, from any number of periods at once."""
    today: dict[str, Array] = {}
    for part in parts:
        today[part.name] = part.advance(carried[part.name], signal, today, usual.reference)
    return today


def moved_by(
    parts: CarriedParts,
    carried: Mapping[str, Float[Array, "period place ..."]],
    usual: Usual,
    periods: int,
    dim: int,
) -> Moved:
    """What the states do to tastes and propensity, beside what they do in usual times."""
    rest = settled(parts, usual)
    places = len(usual.dose) - 1
    tastes = jnp.zeros((periods, places, usual.rates.shape[1]))
    propensity = jnp.zeros((periods, places, dim))
    for part in parts:
        away = carried[part.name] - jnp.broadcast_to(rest[part.name], carried[part.name].shape)
        taste, shift = part.logit_effect(away), part.propensity_effect(away)
        tastes = tastes if taste is None else tastes + taste
        propensity = propensity if shift is None else propensity + shift
    return Moved(tastes, propensity)
