"""Feedback: everything the crowd carries from one day to the next.

Recorded outcomes (or, in a forecast, expected ones) become signals; signals
move the states of the cohorts and the arrival environment.
"""

from collections.abc import Callable, Mapping

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.days import CohortTotals
from dgd.model.feedback.carried_state import AbstractCarriedState
from dgd.model.feedback.environment import (
    AbstractEnvironment,
    ArrivalEnvironment,
    CalmEnvironment,
    EnvironmentState,
)
from dgd.model.feedback.fatigue import Fatigue
from dgd.model.feedback.memory import Memory
from dgd.model.feedback.shift import Shift
from dgd.model.feedback.signals import innovation, signals
from dgd.model.held import Held
from dgd.model.innovations import InnovationState
from dgd.model.reference import Reference
from dgd.model.shape import Shape

CARRIED_STATES: tuple[type[AbstractCarriedState], ...] = (Memory, Fatigue, Shift)
"""What a cohort carries; a state may use those named before it, as they stand after the day."""


class State(eqx.Module):
    """The crowd at the beginning of each date."""

    carried: dict[str, Float[Array, "date cohort ..."]]
    """What each cohort carries, by the name of the state."""
    environment: EnvironmentState
    innovations: InnovationState | None = None

    @property
    def of_innovations(self) -> InnovationState:
        """The same where the model has innovations."""
        if self.innovations is None:
            raise ValueError("the state has no innovations, but the model corrects by them")
        return self.innovations


class Feedback(eqx.Module):
    """The parts that carry something on; with none of them every day starts afresh."""

    carried: tuple[AbstractCarriedState, ...]
    environment: AbstractEnvironment

    @staticmethod
    def starting(shape: Shape, rng: np.random.Generator) -> "Feedback":
        """Every state of `CARRIED_STATES` and the arrival environment, where training starts."""
        carried = tuple(state.starting(shape, rng) for state in CARRIED_STATES)
        return Feedback(carried, ArrivalEnvironment.starting(shape))

    @staticmethod
    def absent(_shape: Shape, _rng: np.random.Generator) -> "Feedback":
        """Nothing is carried from day to day."""
        return Feedback((), CalmEnvironment())

    def at_rest(self, units: int, cohorts: int) -> State:
        """The state before the first day."""
        carried = {part.name: part.at_rest(cohorts) for part in self.carried}
        return State(carried, EnvironmentState.at_rest(units))

    def logit_effect(
        self, state: State, cohorts: int, behaviors: int
    ) -> Float[Array, "date cohort behavior"]:
        """What all states together add to the logits."""
        total = jnp.zeros((len(state.environment.common), cohorts, behaviors))
        for part in self.carried:
            moved = part.logit_effect(state.carried[part.name])
            total = total if moved is None else total + moved
        moved = self.environment.logit_effect(state.environment)
        return total if moved is None else total + moved[:, None]

    def propensity_effect(
        self, state: State, cohorts: int, dim: int
    ) -> Float[Array, "date cohort dim"]:
        """How far all states together move propensities."""
        total = jnp.zeros((len(state.environment.common), cohorts, dim))
        for part in self.carried:
            moved = part.propensity_effect(state.carried[part.name])
            total = total if moved is None else total + moved
        return total

    def advance(
        self,
        state: State,
        arrivals: Float[Array, "date unit cohort"],
        behaviors: Float[Array, "date unit cohort behavior"],
        expected_arrivals: Float[Array, "date unit cohort"],
        active: Float[Array, "date unit"],
        reference: Reference,
    ) -> State:
        """One day on: recorded counts give observed feedback, expected ones expected feedback."""
        totals = CohortTotals(arrivals.sum(1), behaviors.sum(1))
        surprise = innovation(arrivals.sum(-1), expected_arrivals.sum(-1), active)
        return State(
            self.advance_carried(state.carried, totals, reference),
            self.environment.advance(state.environment, surprise),
        )

    def advance_carried(
        self,
        carried: Mapping[str, Float[Array, "date cohort ..."]],
        totals: CohortTotals,
        reference: Reference,
    ) -> dict[str, Float[Array, "date cohort ..."]]:
        """What cohorts carry a day later, of which all units together counted `totals`."""
        signal = signals(totals, reference)
        today: dict[str, Array] = {}
        for part in self.carried:
            today[part.name] = part.advance(carried[part.name], signal, today, reference)
        return today

    def factors(self) -> dict[str, Float[Array, ""]]:
        """How much of each state a day carries over or corrects, by the name tables give it."""
        kept = {f"{part.name} retention": part.retention for part in self.carried}
        return {**kept, **self.environment.factors()}

    def held(self) -> list[Held]:
        """The coefficients that the regulariser holds."""
        of_states = [held for part in self.carried for held in part.held()]
        return [*of_states, *self.environment.held()]


FEEDBACKS: dict[str, Callable[[Shape, np.random.Generator], Feedback]] = {
    "feedback": Feedback.starting,
    "none": Feedback.absent,
}
"""Feedbacks by the name a setting gives them, each where training starts."""
