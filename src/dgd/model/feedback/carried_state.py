r"""What every state has in common that a cohort carries from one day to the next.

.. math:: x_{t+1} = \rho\, x_t + u_t

A part says how much is kept, what a day adds, what the state moves, and where
training starts. To add one: write it in a file beside this one and name its class in
`feedback.CARRIED_STATES`. Everything else (the sweep, forecasts, tables, files,
diagnostics) goes over whatever is carried.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from dgd.model.feedback.signals import Signals
from dgd.model.held import Held
from dgd.model.reference import Reference
from dgd.model.shape import Shape


class AbstractCarriedState(eqx.Module):
    """One state per cohort, with axes [date, cohort, ...]."""

    name: ClassVar[str]
    """What tables, charts and `State.carried` call it."""

    each: ClassVar[str] = ""
    """What a cohort carries a number of its own for: every "behavior", every "dimension" of
    propensity, or nothing, where it carries one number."""

    @classmethod
    @abstractmethod
    def starting(cls, shape: Shape, rng: np.random.Generator) -> "AbstractCarriedState":
        """Parameters where training starts; `rng` draws small differences between seeds."""

    @abstractmethod
    def at_rest(self, cohorts: int) -> Float[Array, "1 cohort ..."]:
        """The state before the first day."""

    @property
    @abstractmethod
    def retention(self) -> Float[Array, ""]:
        """rho: how much of the state a day leaves."""

    @abstractmethod
    def input(
        self, signal: Signals, today: Mapping[str, Array], reference: Reference
    ) -> Float[Array, "date cohort ..."]:
        """What a day adds; `today` holds the states named earlier, already moved by the day."""

    @abstractmethod
    def reach(self, start: Float[Array, "..."], days: int) -> float:
        """What no entry of the state can exceed, in size, `days` days after `start`."""

    def logit_effect(
        self,
        state: Float[Array, "date cohort ..."],  # noqa: ARG002 (most states move only one thing)
    ) -> Float[Array, "date cohort behavior"] | None:
        """What the state adds to the logits of the behaviours."""
        return None

    def propensity_effect(
        self,
        state: Float[Array, "date cohort ..."],  # noqa: ARG002
    ) -> Float[Array, "date cohort dim"] | None:
        """How far the state moves everybody's propensity, and with it contact and response."""
        return None

    def settles_at(
        self,
        reference: Reference,  # noqa: ARG002
    ) -> Float[Array, "cohort ..."] | None:
        """Where the state ends when every day is as the reference says, if that says it."""
        return None

    def held(self) -> list[Held]:
        """The coefficients that the regulariser holds."""
        return []

    def advance(
        self,
        state: Float[Array, "date cohort ..."],
        signal: Signals,
        today: Mapping[str, Array],
        reference: Reference,
    ) -> Float[Array, "date cohort ..."]:
        """The state a day later."""
        return self.retention * state + self.input(signal, today, reference)
