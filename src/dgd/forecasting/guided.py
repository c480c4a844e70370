"""Some units of many, walked as all of them lead: what cohorts carry is what all units make of it.

Cohorts carry their states over all units. A walk of some units alone can therefore not know what
its cohorts will carry; it is told, day by day, and only the units' own departures are its own.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Prediction
from dgd.model.feedback.environment import AbstractEnvironment, EnvironmentState
from dgd.model.feedback.feedback import State
from dgd.model.feedback.signals import Innovation


class GuidedDay(eqx.Module):
    """A day of some units, and what the cohorts of all units carry into the day after."""

    inputs: Inputs
    following: dict[str, Float[Array, "date cohort ..."]]


class GuidedCrowd(eqx.Module):
    """A crowd of some units; by expected counts nothing surprises, so environments fade."""

    crowd: Crowd

    def predict(self, state: State, day: GuidedDay) -> Prediction:
        return self.crowd.predict(state, day.inputs)

    def advance(self, state: State, day: GuidedDay, *_expected: object) -> State:
        return State(day.following, left_calm(self.crowd.feedback.environment, state.environment))


def left_calm(environment: AbstractEnvironment, state: EnvironmentState) -> EnvironmentState:
    """The environment of some units after a day on which all units did what was expected."""
    nothing = Innovation(jnp.zeros_like(state.common), jnp.zeros_like(state.unit))
    return environment.uncentred(state, nothing)
