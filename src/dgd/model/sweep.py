"""Every day's state under recorded feedback, without ever building a pattern.

What cohorts carry depends on recorded counts and parameters only: geometric
carry-over, computed for all days at once, state after state. Just the arrival
environment needs yesterday's predicted arrivals, so one scan of arrival
integrals remains. The 2^H work never sits inside it.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.arrival import clipped
from dgd.model.crowd import Crowd
from dgd.model.days import CohortTotals, Inputs, Outcomes, Prediction
from dgd.model.feedback.environment import EnvironmentState
from dgd.model.feedback.feedback import State
from dgd.model.feedback.signals import innovation, signals
from dgd.model.observation import AtNodes, integrate

LONGEST_KERNEL = 256
"""Days up to which carry-over is one small matrix product; longer series are scanned."""


class Sweep(NamedTuple):
    """The observed branch: states, what they predict, and the state after the last day."""

    states: State
    nodes: AtNodes
    predictions: Prediction
    final: State
    uncorrected: Prediction
    """What is expected without innovations."""


class Observed(NamedTuple):
    """States at the beginning of every day, and of the day after the last."""

    states: State
    final: State
    at_rest: Float[Array, "date unit cohort node"]
    """Each node's exponent without the environment, which predictions reuse."""


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


def carried_paths(
    crowd: Crowd, totals: CohortTotals, initial: State
) -> dict[str, Float[Array, "date_and_one cohort ..."]]:
    """What cohorts carry at the beginning of every day, and of the day after the last."""
    signal = signals(totals, crowd.reference)
    paths: dict[str, Array] = {}
    today: dict[str, Array] = {}
    for part in crowd.feedback.carried:
        added = part.input(signal, today, crowd.reference)
        paths[part.name] = carry_over(part.retention, initial.carried[part.name], added)
        today[part.name] = paths[part.name][1:]
    return paths


def observed_states(crowd: Crowd, inputs: Inputs, outcomes: Outcomes, initial: State) -> Observed:
    """Every day's state under the counts recorded before it."""
    paths = carried_paths(crowd, outcomes.totals, initial)
    carried = {name: path[:-1] for name, path in paths.items()}
    days = len(outcomes.arrivals)
    calm = EnvironmentState(jnp.zeros(days), jnp.zeros(inputs.active.shape))
    support = crowd.population.support()
    at_rest = crowd.arrival.exponent_at_rest(
        crowd.reference, support, inputs.features, crowd.moved(State(carried, calm))
    )
    node_weights = jnp.exp(support.log_weights)

    def step(
        environment: EnvironmentState, day: tuple[Array, ...]
    ) -> tuple[EnvironmentState, EnvironmentState]:
        exponent, people, recorded, active = day
        log_intensity = clipped(exponent + environment.exponent[0][:, None, None])
        expected = (people[..., None] * node_weights[None] * jnp.exp(log_intensity)).sum((1, 2))
        surprise = innovation(recorded[None], expected[None], active[None])
        return crowd.feedback.environment.advance(environment, surprise), environment

    walked = (at_rest, crowd.people(inputs), outcomes.arrivals.sum(-1), inputs.active)
    last, path = jax.lax.scan(step, initial.environment, walked)
    environment: EnvironmentState = jax.tree.map(lambda x: x[:, 0], path)
    final = {name: path[-1:] for name, path in paths.items()}
    return Observed(State(carried, environment), State(final, last), at_rest)


def observe(crowd: Crowd, inputs: Inputs, outcomes: Outcomes, initial: State) -> Sweep:
    """Predict every day from the counts recorded before it.

    What innovations add to a day is known before it, like the counts that it is made of: gradients
    take it as given.
    """
    states, final, at_rest = observed_states(crowd, inputs, outcomes, initial)
    exponent = at_rest + states.environment.exponent[:, :, None, None]
    nodes = crowd.respond(states, inputs, exponent)
    expected = integrate(nodes, crowd.response.dependence)
    if crowd.innovations is None:
        return Sweep(states, nodes, expected, final, expected)
    known: Prediction = jax.lax.stop_gradient(expected)
    path = crowd.innovations.path(known, inputs.of_season, outcomes)
    before = jax.tree.map(lambda x: x[:-1], path)
    states = replace(states, innovations=before)
    final = replace(final, innovations=jax.tree.map(lambda x: x[-1:], path))
    corrected = crowd.innovations.corrections(before, inputs.of_season).applied(expected)
    return Sweep(states, nodes, corrected, final, expected)


def states_at_dawn(crowd: Crowd, inputs: Inputs, outcomes: Outcomes) -> State:
    """The state at the beginning of every recorded day and of the day after the last."""
    first = crowd.at_rest()
    states, final, at_rest = observed_states(crowd, inputs, outcomes, first)
    path: State = jax.tree.map(lambda path, end: jnp.concatenate([path, end]), states, final)
    if crowd.innovations is None:
        return path
    exponent = at_rest + states.environment.exponent[:, :, None, None]
    expected = integrate(crowd.respond(states, inputs, exponent), crowd.response.dependence)
    corrected = crowd.innovations.path(expected, inputs.of_season, outcomes)
    return replace(path, innovations=corrected)


def expect_next(
    crowd: Crowd, sweep: Sweep, inputs: Inputs, times: Float[Array, " cohort"]
) -> tuple[AtNodes, Prediction]:
    """Leave every day but the last by expected feedback and predict the day after.

    Each day is left before its outcome: summaries and sizes as they stood on
    the day itself, calendar and effort of the day after. All units are expected to do so many
    `times` what those at hand do.
    """
    states = jax.tree.map(lambda x: x[:-1], sweep.states)
    left = sweep.predictions.between(0, -1)
    today = inputs.between(0, -1)
    counts = (times[None, None] * left.arrivals, times[None, None, :, None] * left.behaviors)
    free = crowd.feedback.advance(states, *counts, counts[0], today.active, crowd.reference)
    following = Inputs(inputs.calendar[1:], today.summaries, today.size, inputs.effort[1:])
    nodes = crowd.at_nodes(free, following)
    expected = integrate(nodes, crowd.response.dependence)
    if crowd.innovations is None:
        return nodes, expected
    tomorrow = crowd.innovations.advance(states.of_innovations)
    return nodes, crowd.innovations.corrections(tomorrow, inputs.of_season[1:]).applied(expected)
