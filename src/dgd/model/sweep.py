"""Every day's state under recorded feedback, without ever building a pattern.

Memory, fatigue and the response shift depend on recorded counts and
parameters only: they are geometric carry-over, computed for all days at once.
Just the arrival states need yesterday's predicted arrivals, so one scan of
arrival integrals remains. The 2^H work never sits inside it.
"""

from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.days import Inputs, Outcomes, Prediction
from dgd.model.feedback import State, innovation, signals
from dgd.model.model import Model
from dgd.model.observation import LOG_INTENSITY_RANGE, AtNodes, at_nodes, integrate

LONGEST_KERNEL = 256
"""Days up to which carry-over is one small matrix product; longer series are scanned."""


Environment: TypeAlias = tuple[Array, Array]
"""The arrival states z and c of one day."""


class Sweep(NamedTuple):
    """The observed branch: states, what they predict, and the state after the last day."""

    states: State
    nodes: AtNodes
    predictions: Prediction
    final: State


def carry_over(
    retention: Float[Array, ""],
    initial: Float[Array, "1 ..."],
    inputs: Float[Array, "date ..."],
) -> Float[Array, "date_and_one ..."]:
    r"""x_0 .. x_T of x_{t+1} = rho x_t + u_t, so x_t = rho^t x_0 + sum_{s<t} rho^{t-1-s} u_s."""
    days = len(inputs)
    if days > LONGEST_KERNEL:

        def step(x: Array, u: Array) -> tuple[Array, Array]:
            following = retention * x + u
            return following, following

        _, path = jax.lax.scan(step, initial[0], inputs)
        return jnp.concatenate([initial, path])
    lag = np.arange(days + 1.0)[:, None] - np.arange(days + 1.0)[None]
    kernel = jnp.where(lag >= 0, jnp.exp(jnp.log(retention) * np.maximum(lag, 0.0)), 0.0)
    sources = jnp.concatenate([initial, inputs]).reshape(days + 1, -1)
    return (kernel @ sources).reshape(days + 1, *initial.shape[1:])


def observed_states(
    model: Model, inputs: Inputs, outcomes: Outcomes, initial: State
) -> tuple[State, State, Float[Array, "date unit cohort node"]]:
    """States at the beginning of every day, the state after the last day, and each
    node's exponent at rest, which predictions reuse."""
    feedback, reference = model.feedback, model.reference
    signal = signals(outcomes.arrivals, outcomes.behaviors, reference)
    memory = carry_over(feedback.memory_retention, initial.memory, feedback.memory_input(signal))
    fatigue = carry_over(
        feedback.fatigue_retention, initial.fatigue, feedback.fatigue_input(signal)
    )
    shift_input = feedback.shift_input(signal, fatigue[1:], reference)
    shift = carry_over(feedback.shift_retention, initial.shift, shift_input)

    support = model.population.support()
    at_rest = model.arrival.log_intensity_at_rest(reference, support, inputs.features, shift[:-1])
    node_weights = jnp.exp(support.log_weights)

    def step(environment: Environment, day: tuple[Array, ...]) -> tuple[Environment, Environment]:
        common, unit = environment
        exponent, people, recorded, active = day
        log_intensity = jnp.clip(exponent + (common + unit)[:, None, None], *LOG_INTENSITY_RANGE)
        expected = (people[..., None] * node_weights[None] * jnp.exp(log_intensity)).sum((1, 2))
        surprise = innovation(recorded[None], expected[None], active[None])
        common, unit = feedback.next_environment(common[None], unit[None], surprise)
        return (common[0], unit[0]), environment

    days = (at_rest, inputs.size * inputs.effort, outcomes.arrivals.sum(-1), inputs.active)
    last, (common, unit) = jax.lax.scan(step, (initial.common[0], initial.unit[0]), days)
    states = State(shift[:-1], memory[:-1], fatigue[:-1], common, unit)
    final = State(shift[-1:], memory[-1:], fatigue[-1:], last[0][None], last[1][None])
    return states, final, at_rest


def observe(model: Model, inputs: Inputs, outcomes: Outcomes, initial: State) -> Sweep:
    """Predict every day from the counts recorded before it."""
    states, final, at_rest = observed_states(model, inputs, outcomes, initial)
    there = model.population.support()
    nodes = at_nodes(model.behavior, model.readout, there, at_rest, states, inputs, inputs.features)
    return Sweep(states, nodes, integrate(nodes, model.behavior.dependence), final)


def expect_next(model: Model, sweep: Sweep, inputs: Inputs) -> tuple[AtNodes, Prediction]:
    """Leave every day but the last by expected feedback and predict the day after.

    Each day is left before its outcome: summaries and sizes as they stood on
    the day itself, calendar and effort of the day after.
    """
    states = jax.tree.map(lambda x: x[:-1], sweep.states)
    left = sweep.predictions.between(0, -1)
    today = inputs.between(0, -1)
    free = model.advance(states, today, left, left.arrivals, left.behaviors)
    following = Inputs(inputs.calendar[1:], today.summaries, today.size, inputs.effort[1:])
    nodes = model.at_nodes(free, following)
    return nodes, integrate(nodes, model.behavior.dependence)
