"""Random valid crowds and days, for tests that must hold for all of them."""

import jax.numpy as jnp
import numpy as np

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

UNITS, COHORTS, BEHAVIORS, FEATURES, COMPONENTS = 3, 2, 3, 4, 2


def random_crowd(seed: int, dim: int = 1, scale: float = 0.3, nodes: int = 5) -> Crowd:
    rng = np.random.default_rng(seed)

    def draw(*shape: int) -> jnp.ndarray:
        return jnp.asarray(scale * rng.normal(size=shape))

    population = GaussianMixture(
        logits=draw(COHORTS, COMPONENTS),
        means=draw(COHORTS, COMPONENTS, dim),
        raw_diagonal=draw(COHORTS, COMPONENTS, dim),
        below_diagonal=draw(COHORTS, COMPONENTS, dim * (dim - 1) // 2),
        initial_scale=0.5,
        nodes=nodes,
    )
    arrival = Arrival(draw(UNITS, COHORTS), draw(FEATURES), draw(dim))
    response = Response(
        unit_intercept=draw(UNITS, BEHAVIORS),
        cohort_intercept=draw(COHORTS, BEHAVIORS),
        feature_effect=draw(FEATURES, BEHAVIORS),
        free_loading=draw(BEHAVIORS - 1, dim),
        dependence_entries=draw(BEHAVIORS * (BEHAVIORS - 1) // 2),
    )
    carried = (
        Memory(draw(), draw(BEHAVIORS, BEHAVIORS)),
        Fatigue(draw(), draw(BEHAVIORS)),
        Shift(draw(), draw(BEHAVIORS, dim), draw(dim)),
    )
    environment = ArrivalEnvironment(draw(), draw(), draw(), draw(BEHAVIORS))
    reference = Reference(
        log_baseline=draw(UNITS, COHORTS),
        rates=jnp.asarray(rng.uniform(0.05, 0.95, (COHORTS, BEHAVIORS))),
        size=jnp.asarray(rng.uniform(5.0, 30.0, COHORTS)),
    )
    return Crowd(population, arrival, response, Feedback(carried, environment), reference)


def random_days(seed: int, days: int = 6, dispersion: float = 50.0) -> tuple[Inputs, Outcomes]:
    """Known inputs and counts; one unit is inactive on the second day."""
    rng = np.random.default_rng(seed + 1000)
    shape = (days, UNITS, COHORTS)
    effort = rng.uniform(0.3, 2.0, shape)
    if days > 1:
        effort[1, 0] = 0.0
    inputs = Inputs(
        calendar=jnp.asarray(rng.normal(size=(*shape, 2))),
        summaries=jnp.asarray(rng.normal(size=(*shape, FEATURES - 2))),
        size=jnp.asarray(rng.uniform(1.0, 20.0, shape)),
        effort=jnp.asarray(effort),
    )
    arrivals = np.where(effort > 0, rng.poisson(6.0, shape), 0)
    share = rng.dirichlet(np.ones(2**BEHAVIORS), shape)
    patterns = np.moveaxis(rng.multinomial(arrivals, share), -1, 0).astype(np.float64)
    return inputs, Outcomes.recorded(patterns, dispersion)
