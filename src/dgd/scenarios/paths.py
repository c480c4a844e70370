"""The days ahead of one origin walked in expectation, states and predictions kept.

All days are one compiled scan, through which gradients flow; what is expected of a day is fed
back before the next. Afterwards the days are a batch on the axis `date`, so that the answer of
one future's states to another future's inputs is a single prediction.
"""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Prediction
from dgd.model.feedback.feedback import State


class WalkedDays(NamedTuple):
    """Days ahead, one after another on the axis `date`."""

    states: State
    """At the beginning of each day."""
    prediction: Prediction


def walk(crowd: Crowd, first: State, days: Inputs) -> WalkedDays:
    """Walk `days` from the state `first`, feeding back what is expected."""

    def step(state: State, day: Inputs) -> tuple[State, tuple[State, Prediction]]:
        today = jax.tree.map(lambda x: x[None], day)
        expected = crowd.predict(state, today)
        counts = (expected.arrivals, expected.behaviors)
        return crowd.advance(state, today, expected, *counts), (state, expected)

    _, (states, path) = jax.lax.scan(step, first, days)
    return WalkedDays(
        jax.tree.map(lambda x: x[:, 0], states),
        Prediction(path.arrivals[:, 0], jnp.moveaxis(path.patterns[:, :, 0], 1, 0)),
    )


walked = eqx.filter_jit(walk)


@eqx.filter_jit
def answered(crowd: Crowd, states: State, days: Inputs) -> Prediction:
    """What every day brings from the given states, all days in one batch."""
    return crowd.predict(states, days)


def averaged(
    arrivals: Float[Array, "seed date unit cohort"],
    patterns: Float[Array, "seed pattern date unit cohort"],
) -> Prediction:
    """The mean over seeds: probabilities are weighted by arrivals, so that behaviour counts
    are means too."""
    total = arrivals.sum(0, keepdims=True)
    some = total > 0
    share = jnp.where(some, arrivals / jnp.where(some, total, 1.0), 1.0 / len(arrivals))
    return Prediction(arrivals.mean(0), (share[:, None] * patterns).sum(0))


def mean_of(predictions: Sequence[Prediction]) -> Prediction:
    """The mean over the seeds' own predictions."""
    return averaged(
        jnp.stack([one.arrivals for one in predictions]),
        jnp.stack([one.patterns for one in predictions]),
    )
