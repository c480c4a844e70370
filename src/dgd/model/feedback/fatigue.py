r"""Fatigue: how much contact a cohort has lately had.

.. math:: f' = \rho_f f + (1 - \rho_f)(1 - e^{-o})
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


class Fatigue(AbstractCarriedState):
    """f: accumulated contact, in [0, 1]."""

    raw_retention: Float[Array, ""]
    effect: Float[Array, " behavior"]

    name: ClassVar[str] = "fatigue"

    @classmethod
    def starting(cls, shape: Shape, rng: np.random.Generator) -> "Fatigue":  # noqa: ARG003
        return cls(first_factor(FIRST_RETENTION), jnp.asarray(np.zeros(shape.behaviors)))

    def at_rest(self, cohorts: int) -> Float[Array, "1 cohort"]:
        return jnp.zeros((1, cohorts))

    @property
    def retention(self) -> Float[Array, ""]:
        """rho_f."""
        return jax.nn.sigmoid(self.raw_retention)

    def input(
        self, signal: Signals, _today: Mapping[str, Array], _reference: Reference
    ) -> Float[Array, "date cohort"]:
        return (1.0 - self.retention) * -jnp.expm1(-signal.dose)

    def reach(self, _start: Float[Array, "..."], _days: int) -> float:
        """What a day adds is at most one, and fatigue averages it."""
        return 1.0

    def logit_effect(
        self, state: Float[Array, "date cohort"]
    ) -> Float[Array, "date cohort behavior"]:
        return state[..., None] * self.effect[None, None]

    def held(self) -> list[Held]:
        return [Held("behavior", self.effect)]
