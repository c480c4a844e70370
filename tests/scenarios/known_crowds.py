"""Crowds with parts exchanged for known ones."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dgd.model.crowd import Crowd
from dgd.model.effort import Elastic, Proportional
from dgd.model.feedback.environment import CalmEnvironment
from dgd.model.feedback.feedback import Feedback
from dgd.model.first_values import first_factor
from dgd.runtime import computing


def shaken(crowd: Crowd, seed: int, scale: float = 0.3) -> Crowd:
    """The same crowd with every trainable number moved."""
    rng = np.random.default_rng(seed)
    with computing():
        moving, rest = eqx.partition(crowd, crowd.trainable())
        moving = jax.tree.map(lambda x: x + jnp.asarray(scale * rng.normal(size=x.shape)), moving)
        return eqx.combine(moving, rest)


def elastic(crowd: Crowd, elasticity: float | list[float], varied: bool = True) -> Crowd:
    """The crowd with a known response to effort around 1."""
    cohorts = crowd.arrival.intercept.shape[1]
    with computing():
        one = jnp.ones(cohorts)
        share = jnp.asarray(np.broadcast_to(elasticity, cohorts).astype(float))
        raw = jnp.log(share / (1 - share))
        return replace(crowd, effort=Elastic(raw, 0 * one, one, one.astype(bool) & varied))


def without_feedback(crowd: Crowd) -> Crowd:
    return replace(crowd, feedback=Feedback((), CalmEnvironment()))


def tiring(crowd: Crowd, effect: float, retention: float = 0.6) -> Crowd:
    """The crowd with fatigue that lowers (or raises) every behaviour, and nothing else carried."""
    with computing():
        memory, fatigue, shift = crowd.feedback.carried
        memory = replace(memory, effect=0 * memory.effect)
        shift = replace(
            shift,
            rate_response=0 * shift.rate_response,
            fatigue_response=0 * shift.fatigue_response,
        )
        fatigue = replace(
            fatigue,
            raw_retention=first_factor(retention),
            effect=jnp.full(fatigue.effect.shape, effect),
        )
        feedback = replace(crowd.feedback, carried=(memory, fatigue, shift))
        return replace(crowd, feedback=feedback)


def proportional(crowd: Crowd) -> Crowd:
    """Twice the effort reaches twice as many."""
    return replace(crowd, effort=Proportional())
