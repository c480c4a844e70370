"""A trained crowd meets units that it was not trained on."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from dgd.model.crowd import Crowd
from dgd.model.unit_parameters import UnitParameters


def crowd_with_new_units(crowd: Crowd, size: Float[np.ndarray, "unit_and_new cohort"]) -> Crowd:
    """The crowd with units behind the known ones, as many as there are more sizes.

    A new unit departs from nothing: its behaviour is that of its cohorts, and its baseline the
    arrivals per person that the known units of the cohort have together, as they were learned.
    """
    known = UnitParameters.of(crowd)
    units = len(known.arrival)
    new = len(size) - units
    people = jnp.asarray(size[:units])
    rates = people * jnp.exp(known.log_baseline + known.arrival)
    baseline = jnp.log(rates.sum(0) / people.sum(0))
    return UnitParameters(
        jnp.concatenate([known.arrival, jnp.zeros((new, known.arrival.shape[1]))]),
        jnp.concatenate([known.response, jnp.zeros((new, known.response.shape[1]))]),
        jnp.concatenate([known.log_baseline, jnp.tile(baseline[None], (new, 1))]),
    ).put_into(crowd)
