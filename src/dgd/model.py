"""The whole model: population, arrival, behaviour and feedback as one pytree."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, PyTree

from dgd.days import Inputs, Prediction
from dgd.feedback import AbstractFeedback, Reference, State
from dgd.observation import Arrival, Behavior, integrate
from dgd.population import AbstractPopulation


class Model(eqx.Module):
    """Differentiable Gaussian Dynamics with all its parameters.

    theta_P is `population`, theta_O `arrival` and `behavior`, theta_T `feedback`.
    `reference` was measured before training and is never trained.
    """

    population: AbstractPopulation
    arrival: Arrival
    behavior: Behavior
    feedback: AbstractFeedback
    reference: Reference

    def trainable(self) -> PyTree[bool]:
        """True for every array that training may change."""
        everything = jax.tree.map(eqx.is_inexact_array, self)
        nothing = jax.tree.map(lambda _: False, self.reference)
        return eqx.tree_at(
            lambda model: (model.reference, model.population),
            everything,
            (nothing, self.population.trainable()),
        )

    def initial_state(self) -> State:
        units, cohorts = self.arrival.intercept.shape
        behaviors = self.behavior.unit_intercept.shape[1]
        return State.zero(units, cohorts, behaviors, len(self.arrival.loading))

    def predict(self, state: State, inputs: Inputs) -> Prediction:
        """Every date's outcomes from the state at its beginning, all dates in one batch."""
        support = self.population.support()
        features = inputs.features
        at_rest = self.arrival.log_intensity_at_rest(self.reference, support, features, state.shift)
        return integrate(self.behavior, support, at_rest, state, inputs, features)

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
