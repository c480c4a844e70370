"""The whole model: population, contact, response and feedback as one pytree."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from dgd.model.arrival import Arrival, clipped
from dgd.model.context import AbstractContext, SharedContext
from dgd.model.days import Inputs, Outcomes, Prediction
from dgd.model.effort import AbstractEffortResponse, Proportional
from dgd.model.feedback.environment import EnvironmentState
from dgd.model.feedback.feedback import Feedback, State
from dgd.model.feedback.signals import Innovation
from dgd.model.held import Held
from dgd.model.innovations import Innovations
from dgd.model.observation import AtNodes, at_nodes, integrate
from dgd.model.population.population import AbstractPopulation
from dgd.model.readout import AbstractReadout, ArrivalWeighted
from dgd.model.reference import Reference
from dgd.model.response import Response


class Crowd(eqx.Module):
    """Differentiable Gaussian Dynamics with all its parameters.

    theta_P is `population`, theta_O `arrival` and `response`, theta_T `feedback`.
    `reference` was measured before training and is never trained. `readout` says whose
    behaviour is recorded, `context` what is known of each event beside its cell, `effort` how
    contact answers to effort.
    """

    population: AbstractPopulation
    arrival: Arrival
    response: Response
    feedback: Feedback
    reference: Reference
    readout: AbstractReadout = ArrivalWeighted()
    context: AbstractContext = SharedContext()
    effort: AbstractEffortResponse = Proportional()
    innovations: Innovations | None = None

    def trainable(self) -> PyTree[bool]:
        """True for every array that training may change."""
        everything = jax.tree.map(eqx.is_inexact_array, self)
        if self.innovations is not None:
            everything = _without_levels(everything)
        return replace(
            everything,
            reference=jax.tree.map(lambda _: False, self.reference),
            population=self.population.trainable(),
            readout=self.readout.trainable(),
            effort=self.effort.trainable(),
        )

    def at_rest(self) -> State:
        """The state before the first day."""
        units, cohorts = self.arrival.intercept.shape
        state = self.feedback.at_rest(units, cohorts)
        if self.innovations is None:
            return state
        behaviors = self.response.unit_intercept.shape[1]
        return replace(state, innovations=self.innovations.at_rest(units, cohorts, behaviors))

    def with_nodes(self, nodes: int) -> "Crowd":
        """The same parameters, integrated at `nodes` nodes per component and dimension."""
        return replace(
            self,
            population=self.population.with_nodes(nodes),
            readout=self.readout.with_nodes(nodes),
        )

    def moved(self, state: State) -> Float[Array, "date cohort dim"]:
        """How far feedback has moved propensities."""
        cohorts, dim = self.arrival.intercept.shape[1], len(self.arrival.loading)
        return self.feedback.propensity_effect(state, cohorts, dim)

    def exponent(self, state: State, inputs: Inputs) -> Float[Array, "date unit cohort node"]:
        """The log-intensity of every node before it is clipped."""
        at_rest = self.arrival.exponent_at_rest(
            self.reference, self.population.support(), inputs.features, self.moved(state)
        )
        return at_rest + state.environment.exponent[:, :, None, None]

    def people(self, inputs: Inputs) -> Float[Array, "date unit cohort"]:
        """n e: how many could be reached, counted as often as effort that takes effect tries."""
        return inputs.size * self.effort.reached(inputs.effort)

    def predict(self, state: State, inputs: Inputs) -> Prediction:
        """Every date's outcomes from the state at its beginning, all dates in one batch."""
        expected = integrate(self.at_nodes(state, inputs), self.response.dependence)
        if self.innovations is None:
            return expected
        return self.innovations.corrections(state.of_innovations, inputs.of_season).applied(
            expected
        )

    def at_nodes(self, state: State, inputs: Inputs) -> AtNodes:
        """Contact and response at every node, from the state at the beginning of each date."""
        return self.respond(state, inputs, self.exponent(state, inputs))

    def respond(
        self, state: State, inputs: Inputs, exponent: Float[Array, "date unit cohort node"]
    ) -> AtNodes:
        """The same where the exponents are known already."""
        of_state = self.feedback.logit_effect(state, *self.response.cohort_intercept.shape)
        return at_nodes(
            self.readout,
            self.population.support(),
            clipped(exponent),
            self.people(inputs),
            self.response.cell_logits(inputs.features, self.moved(state), of_state),
            self.response.loading,
        )

    def log_likelihood(
        self, nodes: AtNodes, prediction: Prediction, outcomes: Outcomes
    ) -> Float[Array, "date unit cohort"]:
        """Of the patterns that each cell's events showed."""
        return self.context.log_likelihood(
            prediction.patterns, nodes, self.response.dependence, outcomes
        )

    def advance(
        self,
        state: State,
        inputs: Inputs,
        prediction: Prediction,
        arrivals: Float[Array, "date unit cohort"],
        behaviors: Float[Array, "date unit cohort behavior"],
    ) -> State:
        """The state a day later under the given feedback counts."""
        following = self.feedback.advance(
            state, arrivals, behaviors, prediction.arrivals, inputs.active, self.reference
        )
        if self.innovations is None:
            return following
        return replace(following, innovations=self.innovations.advance(state.of_innovations))

    def led(self, state: State, carried: dict[str, Float[Array, "date cohort ..."]]) -> State:
        """The state a day later of some units of many: all units together have led to what cohorts
        carry then, and nothing surprises these."""
        nothing = Innovation(
            jnp.zeros_like(state.environment.common), jnp.zeros_like(state.environment.unit)
        )
        calm = self.feedback.environment.uncentred(state.environment, nothing)
        if self.innovations is None:
            return State(carried, calm)
        return State(carried, calm, self.innovations.advance(state.of_innovations))

    def state_of_units(self, state: State, units: Int[np.ndarray, " some"]) -> State:
        """What some of the units meet a day with."""
        here = jnp.asarray(units)
        own = EnvironmentState(state.environment.common, state.environment.unit[:, here])
        if self.innovations is None or state.innovations is None:
            return State(state.carried, own)
        return State(state.carried, own, self.innovations.of_units(state.innovations, units))

    def who_is_there(self) -> AbstractPopulation:
        """The population that, weighted by arrivals, shows the recorded behaviour."""
        return self.readout.who_is_there(self.population, self.arrival.loading)

    def who_is_seen(self) -> AbstractPopulation:
        """The population behind recorded arrivals."""
        return self.readout.who_is_seen(self.population, self.arrival.loading)

    def held(self) -> list[Held]:
        """Everything that the regulariser holds: coefficients, and how far scales have moved."""
        return [
            *self.arrival.held(),
            *self.response.held(),
            *self.feedback.held(),
            *self.context.held(),
            *self.effort.held(),
            Held("other", self.population.scale_departure()),
            Held("other", self.readout.scale_departure()),
        ]


def _without_levels(marks: Crowd) -> Crowd:
    """Levels stay where they were measured: innovations, which are found for themselves, move
    them."""

    def levels(crowd: Crowd) -> tuple[Any, ...]:
        response = crowd.response
        of_patterns = (response.unit_intercept, response.cohort_intercept)
        return (crowd.arrival.intercept, *of_patterns, response.dependence_entries)

    still = eqx.tree_at(levels, marks, (False,) * 4)
    return replace(still, innovations=jax.tree.map(lambda _: False, marks.innovations))
