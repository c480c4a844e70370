"""Problems of the sizes that matter, with random parameters and drawn counts."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from dgd.learning.objective import Objective
from dgd.learning.settings import PAPER, Settings
from dgd.model import (
    Arrival,
    ArrivalEnvironment,
    Crowd,
    Fatigue,
    Feedback,
    GaussianMixture,
    Inputs,
    Memory,
    Outcomes,
    Reference,
    Response,
    Shift,
)
from dgd.runtime import computing

CALENDAR = 6


@dataclass(frozen=True)
class ProblemShape:
    units: int
    cohorts: int
    behaviors: int
    days: int
    components: int = 2
    nodes: int = 7
    features: int = 12
    arrivals: float = 12.0


SHAPES = {
    "kuairand": ProblemShape(5, 9, 7, 9),
    "retail": ProblemShape(1, 4, 3, 59),
    "large": ProblemShape(400, 9, 7, 30),
}


@dataclass(frozen=True, eq=False)
class Problem:
    crowd: Crowd
    inputs: Inputs
    outcomes: Outcomes
    objective: Objective


def problem(shape: ProblemShape, seed: int = 0) -> Problem:
    """A training problem of `shape` with the paper's objective."""
    rng = np.random.default_rng(seed)
    units, cohorts, behaviors = shape.units, shape.cohorts, shape.behaviors
    grid = (shape.days, units, cohorts)
    with computing():

        def draw(*size: int) -> jnp.ndarray:
            return jnp.asarray(0.2 * rng.normal(size=size))

        population = GaussianMixture(
            logits=draw(cohorts, shape.components),
            means=draw(cohorts, shape.components, 1),
            raw_diagonal=draw(cohorts, shape.components, 1),
            below_diagonal=jnp.zeros((cohorts, shape.components, 0)),
            initial_scale=0.5,
            nodes=shape.nodes,
        )
        arrival = Arrival(draw(units, cohorts), draw(shape.features), draw(1))
        response = Response(
            unit_intercept=draw(units, behaviors),
            cohort_intercept=draw(cohorts, behaviors),
            feature_effect=draw(shape.features, behaviors),
            free_loading=draw(behaviors - 1, 1),
            dependence_entries=draw(behaviors * (behaviors - 1) // 2),
        )
        carried = (
            Memory(draw(), draw(behaviors, behaviors)),
            Fatigue(draw(), draw(behaviors)),
            Shift(draw(), draw(behaviors, 1), draw(1)),
        )
        environment = ArrivalEnvironment(draw(), draw(), draw(), draw(behaviors))
        reference = Reference(
            log_baseline=draw(units, cohorts),
            rates=jnp.asarray(rng.uniform(0.05, 0.6, (cohorts, behaviors))),
            size=jnp.full(cohorts, 20.0),
        )
        inputs = Inputs(
            calendar=draw(*grid, CALENDAR),
            summaries=draw(*grid, shape.features - CALENDAR),
            size=jnp.full(grid, shape.arrivals),
            effort=jnp.ones(grid),
        )
        counts = rng.multinomial(
            rng.poisson(shape.arrivals, grid), rng.dirichlet(np.full(2**behaviors, 0.1), grid)
        )
        patterns = np.moveaxis(counts, -1, 0).astype(np.float64)
        feedback = Feedback(carried, environment)
        crowd = Crowd(population, arrival, response, feedback, reference)
        objective = Settings(**PAPER).objective
        return Problem(crowd, inputs, Outcomes.recorded(patterns, objective.dispersion), objective)
