r"""Memory: the behaviour rates a cohort has lately shown.

.. math:: m' = \rho_m m + (1 - \rho_m)\, v
"""

from collections.abc import Mapping
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.feedback.carried_state import AbstractCarriedState
from dgd.model.feedback.signals import Signals
from dgd.model.first_values import FIRST_RETENTION, first_factor
from dgd.model.held import Held
from dgd.model.reference import Reference
from dgd.model.shape import Shape


class Memory(AbstractCarriedState):
    """m: remembered behaviour rates, in [0, 1]."""

    raw_retention: Float[Array, ""]
    effect: Float[Array, "behavior behavior"]
    """Row: the behaviour remembered; column: the behaviour it moves."""

    name: ClassVar[str] = "memory"
    each: ClassVar[str] = "behavior"

    @classmethod
    def starting(cls, shape: Shape, rng: np.random.Generator) -> "Memory":  # noqa: ARG003
        zero = np.zeros((shape.behaviors, shape.behaviors))
        return cls(first_factor(FIRST_RETENTION), jnp.asarray(zero))

    def at_rest(self, cohorts: int) -> Float[Array, "1 cohort behavior"]:
        return jnp.zeros((1, cohorts, len(self.effect)))

    @property
    def retention(self) -> Float[Array, ""]:
        """rho_m."""
        return jax.nn.sigmoid(self.raw_retention)

    def input(
        self, signal: Signals, _today: Mapping[str, Array], _reference: Reference
    ) -> Float[Array, "date cohort behavior"]:
        return (1.0 - self.retention) * signal.rates

    def reach(self, _start: Float[Array, "..."], _days: int) -> float:
        """Rates are at most one, and memory averages them."""
        return 1.0

    def logit_effect(
        self, state: Float[Array, "date cohort behavior"]
    ) -> Float[Array, "date cohort behavior"]:
        return state @ self.effect

    def settles_at(self, reference: Reference) -> Float[Array, "cohort behavior"]:
        return reference.rates

    def held(self) -> list[Held]:
        return [Held("behavior", self.effect)]
