"""The whole model: population, arrival, behaviour and feedback as one pytree."""

from dataclasses import replace

import equinox as eqx
import jax
from jaxtyping import Array, Float, PyTree

from dgd.model.context import AbstractContext, SharedContext
from dgd.model.days import Inputs, Outcomes, Prediction
from dgd.model.feedback import AbstractFeedback, Reference, State
from dgd.model.observation import Arrival, AtNodes, Behavior, at_nodes, integrate
from dgd.model.population import AbstractPopulation
from dgd.model.readout import AbstractReadout, ArrivalWeighted


class Model(eqx.Module):
    """Differentiable Gaussian Dynamics with all its parameters.

    theta_P is `population`, theta_O `arrival` and `behavior`, theta_T `feedback`.
    `reference` was measured before training and is never trained. `readout` says whose
    behaviour is recorded, `context` what is known of each event beside its cell.
    """

    population: AbstractPopulation
    arrival: Arrival
    behavior: Behavior
    feedback: AbstractFeedback
    reference: Reference
    readout: AbstractReadout = ArrivalWeighted()
    context: AbstractContext = SharedContext()

    def trainable(self) -> PyTree[bool]:
        """True for every array that training may change."""
        everything = jax.tree.map(eqx.is_inexact_array, self)
        return replace(
            everything,
            reference=jax.tree.map(lambda _: False, self.reference),
            population=self.population.trainable(),
            readout=self.readout.trainable(),
        )

    def initial_state(self) -> State:
        units, cohorts = self.arrival.intercept.shape
        behaviors = self.behavior.unit_intercept.shape[1]
        return State.zero(units, cohorts, behaviors, len(self.arrival.loading))

    def with_nodes(self, nodes: int) -> "Model":
        """The same parameters, integrated at `nodes` nodes per component and dimension."""
        return replace(
            self,
            population=self.population.with_nodes(nodes),
            readout=self.readout.with_nodes(nodes),
        )

    def predict(self, state: State, inputs: Inputs) -> Prediction:
        """Every date's outcomes from the state at its beginning, all dates in one batch."""
        return integrate(self.at_nodes(state, inputs), self.behavior.dependence)

    def at_nodes(self, state: State, inputs: Inputs) -> AtNodes:
        """Contact and response at every node, from the state at the beginning of each date."""
        there, features = self.population.support(), inputs.features
        at_rest = self.arrival.log_intensity_at_rest(self.reference, there, features, state.shift)
        return at_nodes(self.behavior, self.readout, there, at_rest, state, inputs, features)

    def log_likelihood(
        self, nodes: AtNodes, prediction: Prediction, outcomes: Outcomes
    ) -> Float[Array, "date unit cohort"]:
        """Of the patterns that each cell's events showed."""
        return self.context.log_likelihood(
            prediction.patterns, nodes, self.behavior.dependence, outcomes
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
        return self.feedback.advance(
            state, arrivals, behaviors, prediction.arrivals, inputs.active, self.reference
        )
