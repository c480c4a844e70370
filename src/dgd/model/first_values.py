"""Where parameters stand before training, as far as no count decides it."""

import jax.numpy as jnp
from jaxtyping import Array, Float
from scipy.special import logit

FIRST_RETENTION = 0.7
"""How much of every state a day leaves."""
FIRST_GAIN = 0.3
"""How much of an innovation enters the arrival environment."""
FIRST_LOADING = 0.1
"""The loading of every behaviour after the first."""
FIRST_NOISE = 0.05
"""Standard deviation of the coefficients that each seed draws for itself."""


def first_factor(value: float) -> Float[Array, ""]:
    """The raw factor whose sigmoid is `value`."""
    return jnp.asarray(logit(value))
