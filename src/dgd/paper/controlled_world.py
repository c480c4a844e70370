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

from dgd.model.arrival import Arrival
from dgd.model.crowd import Crowd
from dgd.model.feedback.environment import ArrivalEnvironment
from dgd.model.feedback.fatigue import Fatigue
from dgd.model.feedback.feedback import Feedback
from dgd.model.feedback.memory import Memory
from dgd.model.feedback.shift import Shift
from dgd.model.first_values import first_factor
from dgd.model.population.gaussian_mixture import GaussianMixture, raw_scale
from dgd.model.reference import Reference
from dgd.model.response import Response
from dgd.runtime import computing
from dgd.simulation.world import WEEKDAYS, World

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
        response = Response(
            unit_intercept=jnp.asarray([[0.1, -0.1], [-0.1, 0.1]]),
            cohort_intercept=jnp.asarray(logit([[0.2, 0.15], [0.3, 0.1]])),
            feature_effect=jnp.zeros((WEEKDAYS, 2)),
            free_loading=jnp.asarray([[0.6]]),
            dependence_entries=jnp.asarray([0.5]),
        )
        carried = (
            Memory(first_factor(0.9), jnp.asarray([[1.5, 0.5], [0.5, 1.5]])),
            Fatigue(first_factor(0.8), jnp.zeros(2)),
            Shift(first_factor(0.9), jnp.asarray([[0.25], [0.25]]), jnp.asarray([0.0])),
        )
        environment = ArrivalEnvironment(
            raw_retention=first_factor(0.7),
            raw_common_gain=first_factor(0.2),
            raw_unit_gain=first_factor(0.2),
            effect=jnp.zeros(2),
        )
        feedback = Feedback(carried, environment)
        reference = Reference(
            log_baseline=jnp.asarray(np.log(ARRIVALS / sizes)),
            rates=jnp.asarray([[0.25, 0.2], [0.35, 0.15]]),
            size=jnp.asarray(sizes.max(0)),
        )
        crowd = Crowd(population, arrival, response, feedback, reference)
    names = (("first", "second"), ("a", "b"), ("click", "like"))
    return World(crowd, *names, sizes, dispersion=DISPERSION)
