"""Worlds whose arrivals answer to effort in a known way."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from scipy.special import logit

import dgd
from dgd.model.effort import Elastic
from dgd.runtime import computing


def elastic(
    elasticity: float | np.ndarray,
    saturation: float = 0.0,
    usual: float = 1.0,
    cohorts: int = 3,
    varied: bool = True,
) -> Elastic:
    """The same response for every cohort, or an elasticity for each."""
    with computing():
        return Elastic(
            jnp.asarray(np.broadcast_to(logit(elasticity), cohorts).astype(float)),
            jnp.asarray(np.full(cohorts, saturation)),
            jnp.asarray(np.full(cohorts, usual)),
            jnp.asarray(np.full(cohorts, varied)),
        )


def elastic_world(
    elasticity: float,
    saturation: float = 0.0,
    usual: float = 1.0,
    arrivals: float = 40.0,
    feedback: bool = True,
) -> dgd.World:
    """The example world with another response to effort."""
    world = dgd.example_world(arrivals=arrivals, feedback=feedback)
    response = elastic(elasticity, saturation, usual, len(world.cohorts))
    return replace(world, crowd=replace(world.crowd, effort=response))


def scattered_effort(days: int, seed: int, scale: float = 1.0) -> np.ndarray:
    """Effort that differs from day to day by chance, the same in all cells."""
    of_day = scale * np.exp(np.random.default_rng(seed).normal(0.0, 0.5, days))
    return np.broadcast_to(of_day[:, None, None], (days, 2, 3)).copy()
