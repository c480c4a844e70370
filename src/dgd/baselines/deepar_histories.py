"""Sampled count histories: how DeepAR-joint looks further than a day ahead."""

from collections.abc import Iterator
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dgd.baselines.deepar_network import DeepARNetwork, LSTMState
from dgd.baselines.marks import joint_probabilities
from dgd.model import negative_binomial
from dgd.model.patterns import integrate_patterns


class StepAhead(NamedTuple):
    """One day ahead of sampled histories."""

    mean: Float[Array, "history cell"]
    spread: Float[Array, "history cell"]
    """alpha = 1/r."""
    logits: Float[Array, "history cell behavior"]


def sampled_histories(
    network: DeepARNetwork,
    state: LSTMState,
    counts: Int[np.ndarray, "1 cell"],
    inputs: Float[Array, "step cell input"],
    possible: Bool[np.ndarray, " cell"],
    scale: Float[Array, " cell"],
    random: np.random.Generator,
    histories: int,
) -> Iterator[tuple[StepAhead, Int[np.ndarray, "history cell"]]]:
    """Each day ahead as every history makes it likely, and the counts drawn for it.

    There is one history on the first day, the recorded one, and then as many as asked.
    """
    for drive in jax.vmap(jax.vmap(network.drive))(inputs):
        if len(state.hidden) < len(counts):
            state = LSTMState(*(jnp.repeat(x, len(counts), 0) for x in state))
        state, day = advance(network, drive, jnp.asarray(counts.astype(np.float64)), state, scale)
        every = (histories, len(scale))
        mean = np.broadcast_to(np.asarray(day.mean), every)
        spread = np.broadcast_to(np.asarray(day.spread), every)
        counts = np.where(possible, negative_binomial.draw(random, mean, 1 / spread), 0)
        yield day, counts


@eqx.filter_jit
def advance(
    network: DeepARNetwork,
    drive: Float[Array, "cell gate"],
    counts: Float[Array, "history cell"],
    state: LSTMState,
    scale: Float[Array, " cell"],
) -> tuple[LSTMState, StepAhead]:
    """Read the counts of every history, and what follows from them."""
    step = jax.vmap(jax.vmap(network.step), (None, 0, 0))
    state = step(drive, counts / scale[None], state)
    mean, spread = jax.vmap(jax.vmap(network.count), (0, None))(state.hidden, scale)
    logits = jax.vmap(jax.vmap(network.marks.logits))(state.hidden)
    return state, StepAhead(mean, spread, logits)


@eqx.filter_jit
def mixed_patterns(network: DeepARNetwork, day: StepAhead) -> Float[Array, "pattern cell"]:
    """Probabilities over all histories, weighted by their means."""
    weights = day.mean / day.mean.sum(0, keepdims=True)
    return integrate_patterns(day.logits.transpose(2, 0, 1), weights, network.marks.dependence)


@eqx.filter_jit
def history_patterns(
    network: DeepARNetwork, day: StepAhead
) -> Float[Array, "history cell pattern"]:
    """Probabilities along each history by itself."""
    return jnp.moveaxis(joint_probabilities(day.logits, network.marks.dependence), 0, -1)
