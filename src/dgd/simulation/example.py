"""A world to try dgd on."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from scipy.special import logit

from dgd.errors import InputError
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
from dgd.tables.labels import Label


def example_world(
    *,
    units: Sequence[Label] = ("north", "south"),
    cohorts: Sequence[Label] = ("casual", "regular", "devoted"),
    behaviors: Sequence[str] = ("click", "like", "share"),
    arrivals: float = 40.0,
    seed: int = 7,
    feedback: bool = True,
) -> World:
    """A crowd of two response types per cohort whose behaviour feeds back on itself.

    Args:
        arrivals: about how many arrivals a unit and cohort see on a day.
        seed: draws the details; the structure is always the same.
        feedback: without it nothing is carried from day to day.
    """
    if not arrivals > 0:
        raise InputError(f"arrivals is {arrivals}; it must be positive.")
    rng = np.random.default_rng(seed)
    n_units, n_cohorts, n_behaviors = len(units), len(cohorts), len(behaviors)
    strength = 1.0 if feedback else 0.0
    sizes = np.round(rng.uniform(60, 140, (n_units, n_cohorts)))
    base = np.array([0.55, 0.3, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.04, 0.03, 0.03, 0.02])
    rates = np.clip(
        base[None, :n_behaviors] * rng.uniform(0.6, 1.5, (n_cohorts, n_behaviors)), 0.02, 0.9
    )
    weekday = np.array([0.0, 0.05, 0.1, 0.25, 0.45, 0.3])
    with computing():
        population = GaussianMixture(
            logits=jnp.asarray(rng.normal(0.0, 0.4, (n_cohorts, 2))),
            means=jnp.asarray(
                np.array([-0.9, 0.9])[None, :, None] + rng.normal(0, 0.2, (n_cohorts, 2, 1))
            ),
            raw_diagonal=jnp.full((n_cohorts, 2, 1), raw_scale(0.5)),
            below_diagonal=jnp.zeros((n_cohorts, 2, 0)),
            initial_scale=0.5,
            nodes=15,
        )
        arrival = Arrival(
            intercept=jnp.asarray(rng.normal(0.0, 0.15, (n_units, n_cohorts))),
            feature_effect=jnp.asarray(weekday),
            loading=jnp.asarray([0.3]),
        )
        pairs = n_behaviors * (n_behaviors - 1) // 2
        response = Response(
            unit_intercept=jnp.asarray(rng.normal(0.0, 0.15, (n_units, n_behaviors))),
            cohort_intercept=jnp.asarray(logit(rates)),
            feature_effect=jnp.zeros((WEEKDAYS, n_behaviors)),
            free_loading=jnp.asarray(rng.uniform(0.4, 0.9, (n_behaviors - 1, 1))),
            dependence_entries=jnp.asarray(rng.uniform(0.2, 1.0, pairs)),
        )
        memory = Memory(first_factor(0.9), jnp.asarray(strength * 1.5 * np.eye(n_behaviors)))
        fatigue = Fatigue(first_factor(0.85), jnp.full(n_behaviors, -1.0 * strength))
        shift = Shift(
            first_factor(0.7),
            rate_response=jnp.asarray(strength * rng.uniform(0.4, 0.8, (n_behaviors, 1))),
            fatigue_response=jnp.asarray([0.8 * strength]),
        )
        environment = ArrivalEnvironment(
            raw_retention=first_factor(0.8),
            raw_common_gain=first_factor(0.3),
            raw_unit_gain=first_factor(0.3),
            effect=jnp.zeros(n_behaviors),
        )
        moves = Feedback((memory, fatigue, shift), environment)
        reference = Reference(
            log_baseline=jnp.asarray(np.log(arrivals / sizes)),
            rates=jnp.asarray(rates),
            size=jnp.asarray(sizes.max(0)),
        )
        crowd = Crowd(population, arrival, response, moves, reference)
    return World(
        crowd,
        tuple(units),
        tuple(cohorts),
        tuple(behaviors),
        sizes,
        campaign=2.5 if feedback else 1.0,
    )
