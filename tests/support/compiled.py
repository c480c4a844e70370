"""Steps of the model, compiled once for all tests that hand them the same shapes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dgd.model import Crowd, Inputs, Outcomes, Prediction, State
from dgd.model.population.population import AbstractPopulation, Support, Types
from dgd.model.sweep import Sweep, observe


@eqx.filter_jit
def predicted(crowd: Crowd, state: State, inputs: Inputs) -> Prediction:
    return crowd.predict(state, inputs)


@eqx.filter_jit
def advanced(
    crowd: Crowd, state: State, inputs: Inputs, prediction: Prediction, fed: Prediction | Outcomes
) -> State:
    """The state a day later when `fed` is fed back."""
    return crowd.advance(state, inputs, prediction, fed.arrivals, fed.behaviors)


@eqx.filter_jit
def observed(crowd: Crowd, inputs: Inputs, outcomes: Outcomes) -> Sweep:
    """Every day from the counts recorded before it, starting at rest."""
    return observe(crowd, inputs, outcomes, crowd.at_rest())


@eqx.filter_jit
def support_of(population: AbstractPopulation) -> Support:
    return population.support()


@eqx.filter_jit
def types_of(population: AbstractPopulation) -> Types:
    return population.types()


def at_rest(crowd: Crowd, days: int) -> State:
    """The state at rest, once for every day."""
    return jax.tree.map(lambda x: jnp.asarray(np.repeat(x, days, 0)), crowd.at_rest())
