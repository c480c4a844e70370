r"""The arrival environment: how far arrivals stand above what was expected, in logs.

.. math:: z' = \rho_z z + \kappa_z \bar\xi, \qquad
    c' = \rho_z c + \kappa_c (\xi - \bar\xi), \text{ then centred}

where xi is the innovation of a unit's arrivals. Unlike the states of a cohort it
needs the day's own prediction, so it is the one thing that days are walked for.
"""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.feedback.signals import Innovation
from dgd.model.first_values import FIRST_GAIN, FIRST_RETENTION, first_factor
from dgd.model.held import Held
from dgd.model.shape import Shape


class EnvironmentState(eqx.Module):
    """The arrival states at the beginning of each date."""

    common: Float[Array, " date"]
    """z: what all units share."""
    unit: Float[Array, "date unit"]
    """c: each unit's departure from it; sums to zero."""

    @property
    def exponent(self) -> Float[Array, "date unit"]:
        """z + c: what is added to a unit's log-intensity."""
        return self.common[:, None] + self.unit

    @staticmethod
    def at_rest(units: int) -> "EnvironmentState":
        """The state before the first day."""
        return EnvironmentState(jnp.zeros(1), jnp.zeros((1, units)))


class AbstractEnvironment(eqx.Module):
    """What every environment can do."""

    def advance(self, state: EnvironmentState, surprise: Innovation) -> EnvironmentState:
        """The state a day later."""
        found = self.uncentred(state, surprise)
        return EnvironmentState(found.common, found.unit - found.unit.mean(-1, keepdims=True))

    @abstractmethod
    def uncentred(self, state: EnvironmentState, surprise: Innovation) -> EnvironmentState:
        """The same before departures are centred: they sum to zero over all units, and where some
        units are at hand only all of them can say by how much these are moved."""

    @abstractmethod
    def logit_effect(self, state: EnvironmentState) -> Float[Array, "date behavior"] | None:
        """What the environment adds to the logits of the behaviours."""

    @abstractmethod
    def factors(self) -> dict[str, Float[Array, ""]]:
        """How much a day carries over or corrects, by the name tables give it."""

    @abstractmethod
    def held(self) -> list[Held]:
        """The coefficients that the regulariser holds."""


class ArrivalEnvironment(AbstractEnvironment):
    """An environment with learned factors; every factor lies in (0, 1) through a sigmoid."""

    raw_retention: Float[Array, ""]
    raw_common_gain: Float[Array, ""]
    raw_unit_gain: Float[Array, ""]
    effect: Float[Array, " behavior"]
    """What one unit of z adds to the logits."""

    @classmethod
    def starting(cls, shape: Shape) -> "ArrivalEnvironment":
        """Parameters where training starts."""
        return cls(
            first_factor(FIRST_RETENTION),
            first_factor(FIRST_GAIN),
            first_factor(FIRST_GAIN),
            jnp.asarray(np.zeros(shape.behaviors)),
        )

    @property
    def retention(self) -> Float[Array, ""]:
        """rho_z."""
        return jax.nn.sigmoid(self.raw_retention)

    @property
    def common_gain(self) -> Float[Array, ""]:
        """kappa_z."""
        return jax.nn.sigmoid(self.raw_common_gain)

    @property
    def unit_gain(self) -> Float[Array, ""]:
        """kappa_c."""
        return jax.nn.sigmoid(self.raw_unit_gain)

    def uncentred(self, state: EnvironmentState, surprise: Innovation) -> EnvironmentState:
        common = self.retention * state.common + self.common_gain * surprise.mean
        unit = self.retention * state.unit + self.unit_gain * surprise.departure
        return EnvironmentState(common, unit)

    def logit_effect(self, state: EnvironmentState) -> Float[Array, "date behavior"]:
        return state.common[:, None] * self.effect[None]

    def factors(self) -> dict[str, Float[Array, ""]]:
        return {
            "environment retention": self.retention,
            "common correction": self.common_gain,
            "unit correction": self.unit_gain,
        }

    def held(self) -> list[Held]:
        return [Held("behavior", self.effect)]


class CalmEnvironment(AbstractEnvironment):
    """No environment: arrivals never depart from what is expected for long."""

    def uncentred(self, state: EnvironmentState, _surprise: Innovation) -> EnvironmentState:
        return jax.tree.map(jnp.zeros_like, state)

    def logit_effect(self, _state: EnvironmentState) -> None:
        return None

    def factors(self) -> dict[str, Float[Array, ""]]:
        return {}

    def held(self) -> list[Held]:
        return []
