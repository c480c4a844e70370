"""Fits with every trained number moved at random, so that none stands where training starts."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import dgd
from dgd.runtime import computing


def shaken(fit: dgd.Fit, scale: float = 0.1, seed: int = 1) -> dgd.Fit:
    """`fit` with normal noise of that `scale` on all that training may change."""
    rng = np.random.default_rng(seed)

    def move(array: jax.Array) -> jax.Array:
        return jnp.asarray(np.asarray(array) + scale * rng.normal(size=array.shape))

    with computing():
        crowds = []
        for crowd in fit.crowds:
            free, fixed = eqx.partition(crowd, crowd.trainable())
            crowds.append(eqx.combine(jax.tree.map(move, free), fixed))
    return fit.with_crowds(crowds)
