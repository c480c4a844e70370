"""The generator of the controlled dynamics experiment, with all its parameters.

Two cohorts, two units, two behaviours, two one-dimensional Gaussian
components. What people did on the days before moves what they do next: memory
raises the logits, and rates above their reference shift the propensities, so
that responses rise through the training days and go on rising through the test
days. The paper names the structure and no values; these are ours.
"""

import jax.numpy as jnp
import numpy as np
from scipy.special import logit

from dgd.model.feedback import Feedback, Reference
from dgd.model.model import Model
from dgd.model.observation import Arrival, Behavior
from dgd.model.population import GaussianMixture, raw_scale
from dgd.runtime import computing
from dgd.simulation.draw import WEEKDAYS, World

NODES = 9
DISPERSION = 80.0
ARRIVALS = 120.0
"""About so many arrivals a unit and cohort see on a day."""


def controlled_world() -> World:
    sizes = np.full((2, 2), 100.0)
    with computing():
        population = GaussianMixture(
            logits=jnp.asarray([[0.4, -0.4], [-0.2, 0.2]]),
            means=jnp.asarray([[[-0.8], [0.8]], [[-0.6], [1.0]]]),
            raw_diagonal=jnp.full((2, 2, 1), raw_scale(0.5)),
            below_diagonal=jnp.zeros((2, 2, 0)),
            initial_scale=0.5,
            nodes=NODES,
        )
        arrival = Arrival(
            intercept=jnp.zeros((2, 2)),
            feature_effect=jnp.zeros(WEEKDAYS),
            loading=jnp.asarray([0.2]),
        )
        behavior = Behavior(
            unit_intercept=jnp.asarray([[0.1, -0.1], [-0.1, 0.1]]),
            cohort_intercept=jnp.asarray(logit([[0.2, 0.15], [0.3, 0.1]])),
            feature_effect=jnp.zeros((WEEKDAYS, 2)),
            memory_effect=jnp.asarray([[1.5, 0.5], [0.5, 1.5]]),
            fatigue_effect=jnp.zeros(2),
            environment_effect=jnp.zeros(2),
            free_loading=jnp.asarray([[0.6]]),
            dependence_entries=jnp.asarray([0.5]),
        )
        feedback = Feedback(
            raw_memory_retention=jnp.asarray(logit(0.9)),
            raw_fatigue_retention=jnp.asarray(logit(0.8)),
            raw_shift_retention=jnp.asarray(logit(0.9)),
            raw_environment_retention=jnp.asarray(logit(0.7)),
            raw_common_gain=jnp.asarray(logit(0.2)),
            raw_unit_gain=jnp.asarray(logit(0.2)),
            rate_response=jnp.asarray([[0.25], [0.25]]),
            fatigue_response=jnp.asarray([0.0]),
        )
        reference = Reference(
            log_baseline=jnp.asarray(np.log(ARRIVALS / sizes)),
            rates=jnp.asarray([[0.25, 0.2], [0.35, 0.15]]),
            size=jnp.asarray(sizes.max(0)),
        )
        model = Model(population, arrival, behavior, feedback, reference)
    names = (("first", "second"), ("a", "b"), ("click", "like"))
    return World(model, *names, sizes, dispersion=DISPERSION)
