"""The multinomial of joint patterns: its log-likelihood and draws from it."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

SMALLEST_PROBABILITY = 1e-300
"""Keeps the logarithm finite where a leaf's mass has underflowed."""


def log_likelihood(
    probabilities: Float[Array, " pattern *cell"], counts: Float[Array, " pattern *cell"]
) -> Float[Array, " *cell"]:
    """sum_y C(y) log q(y) of every cell; the number of orderings, which no parameter moves,
    is left out."""
    return (counts * jnp.log(jnp.maximum(probabilities, SMALLEST_PROBABILITY))).sum(0)


def draw(
    rng: np.random.Generator,
    arrivals: Int[np.ndarray, "*cell"],
    probabilities: Float[np.ndarray, "*cell pattern"],
) -> Int[np.ndarray, "*cell pattern"]:
    """How many of each cell's arrivals show each pattern."""
    shares = probabilities / probabilities.sum(-1, keepdims=True)
    return rng.multinomial(arrivals, shares)
