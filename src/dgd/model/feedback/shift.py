r"""Shift: how far experience has moved a cohort's propensities.

.. math:: \delta' = \rho_\delta \delta + B^T (v - v^0) - f' b_f

where f' is the day's own fatigue, already updated by the same signal.
"""

from collections.abc import Mapping
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.feedback.carried_state import AbstractCarriedState
from dgd.model.feedback.fatigue import Fatigue
from dgd.model.feedback.signals import Signals
from dgd.model.first_values import FIRST_NOISE, FIRST_RETENTION, first_factor
from dgd.model.held import Held
from dgd.model.reference import Reference
from dgd.model.shape import Shape


class Shift(AbstractCarriedState):
    """delta: how far feedback has moved the cohort's propensities."""

    raw_retention: Float[Array, ""]
    rate_response: Float[Array, "behavior dim"]
    """B: shift per unit of behaviour rate above its reference."""
    fatigue_response: Float[Array, " dim"]
    """b_f: shift away per unit of fatigue."""

    name: ClassVar[str] = "shift"
    each: ClassVar[str] = "dimension"

    @classmethod
    def starting(cls, shape: Shape, rng: np.random.Generator) -> "Shift":
        return cls(
            first_factor(FIRST_RETENTION),
            jnp.asarray(FIRST_NOISE * rng.normal(size=(shape.behaviors, shape.dim))),
            jnp.asarray(FIRST_NOISE * rng.normal(size=shape.dim)),
        )

    def at_rest(self, cohorts: int) -> Float[Array, "1 cohort dim"]:
        return jnp.zeros((1, cohorts, len(self.fatigue_response)))

    @property
    def retention(self) -> Float[Array, ""]:
        """rho_delta."""
        return jax.nn.sigmoid(self.raw_retention)

    def input(
        self, signal: Signals, today: Mapping[str, Array], reference: Reference
    ) -> Float[Array, "date cohort dim"]:
        excess = signal.rates - reference.rates[None]
        tired = today[Fatigue.name][..., None] * self.fatigue_response[None, None]
        return excess @ self.rate_response - tired

    @property
    def strongest_push(self) -> Float[Array, ""]:
        r"""More than any day can add to a coordinate: rates depart by at most one, and fatigue
        is at most one.

        .. math:: M_B = \max_l \sum_h |B_{hl}| + \max_l |b_{f,l}|
        """
        by_rates = jnp.abs(self.rate_response).sum(0).max()
        return by_rates + jnp.abs(self.fatigue_response).max()

    def reach(self, start: Float[Array, "..."], days: int) -> float:
        r"""Decay of the start, and accumulation of the strongest pushes.

        .. math:: \rho^t \|\delta_0\|_\infty + M_B \frac{1-\rho^t}{1-\rho}
        """
        kept, push = float(self.retention), float(self.strongest_push)
        carried = kept**days * float(jnp.abs(start).max())
        return carried + push * (1 - kept**days) / (1 - kept)

    def propensity_effect(
        self, state: Float[Array, "date cohort dim"]
    ) -> Float[Array, "date cohort dim"]:
        return state

    def held(self) -> list[Held]:
        return [Held("other", self.rate_response), Held("other", self.fatigue_response)]
