"""Sums over all units, those of other processes included.

Units of one panel may be spread over processes; `jax.shard_map` then names the axis they are spread
over, and sums go over all of it. Without such an axis a sum is that of the units at hand.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

UNITS = "units"
"""The axis of processes that units are spread over."""


def over_units(here: Float[Array, "*total"]) -> Float[Array, "*total"]:
    """The sum of what every process has summed over its own units."""
    if not spread():
        return here
    everywhere: Array = jax.lax.psum(here, UNITS)  # type: ignore[no-untyped-call]
    return everywhere


def spread() -> bool:
    """Whether the program being traced has its units on several processes."""
    try:
        jax.lax.axis_size(UNITS)
    except NameError:
        return False
    return True


def mean_over_units(
    values: Float[Array, "date unit"], present: Float[Array, " unit"] | None
) -> Float[Array, "date 1"]:
    """The mean over units that are there; without a mark for each, all are, and none elsewhere."""
    if present is None:
        return values.mean(-1, keepdims=True)
    total = over_units((values * present[None]).sum(-1))
    return (total / over_units(present.sum()))[:, None]


def mean_of_marked(
    values: Float[Array, "date unit"], marked: Float[Array, "date unit"]
) -> Float[Array, " date"]:
    """The mean over the units that are marked on a date, 0 where none is."""
    total, number = over_units((marked * values).sum(-1)), over_units(marked.sum(-1))
    return total / jnp.maximum(1.0, number)
