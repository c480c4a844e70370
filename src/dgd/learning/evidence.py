r"""What every part of a model is worth: forecasts of the next day with it and without it.

.. math:: g = \frac{1000}{\sum_t N_t} \sum_t \big[\log p(C_t \mid C_{<t})
    - \log p_{-}(C_t \mid C_{<t})\big]

over the days that no gradient has seen, the validation days, where the second model lacks the part
and its innovations have adapted to that. The standard error is that of a sum over days.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Array, Float

from dgd.learning.laplace import measured_dispersion
from dgd.model import negative_binomial
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Outcomes
from dgd.model.effort import Elastic
from dgd.model.feedback.carried_state import AbstractCarriedState
from dgd.model.innovations import LEVELS
from dgd.model.population.gaussian_mixture import GaussianMixture
from dgd.model.sweep import observe

NOTHING = -40.0
"""The logarithm of a variance, the logit of an elasticity or the raw scale of a population that
are none."""
LEAST_MEAN = 1e-9
EVENTS = 1000.0


def evidence_table(
    crowds: Sequence[Crowd], inputs: Inputs, outcomes: Outcomes, since: int
) -> pl.DataFrame:
    """One row per part, the mean over seeds; days before the one numbered `since` lead up to those
    that are scored."""
    gains: dict[str, list[np.ndarray]] = {}
    for crowd in crowds:
        spread = jnp.asarray(measured_dispersion(crowd, inputs, outcomes))
        whole = np.asarray(_daily(crowd, inputs, outcomes, spread))
        for name, without in _without_parts(crowd):
            lacking = np.asarray(_daily(without, inputs, outcomes, spread))
            gains.setdefault(name, []).append((whole - lacking)[since:])
    events = max(float(np.asarray(outcomes.arrivals)[since:].sum()), 1.0)
    rows = []
    for name, found in gains.items():
        days = np.mean(found, 0) * EVENTS / events
        error = days.std(ddof=1) * np.sqrt(len(days)) if len(days) > 1 else None
        rows.append((name, days.sum(), error, len(days)))
    columns = {
        "part": pl.String,
        "gain": pl.Float64,
        "standard_error": pl.Float64,
        "days": pl.Int64,
    }
    return pl.DataFrame(rows, schema=columns, orient="row")


def _without_parts(crowd: Crowd) -> Iterator[tuple[str, Crowd]]:
    """The crowd without each of its parts in turn, and what the part is called."""
    population = crowd.population
    if isinstance(population, GaussianMixture):
        mean = (population.weights[..., None] * population.means).sum(1, keepdims=True)
        alike = replace(
            population,
            means=jnp.broadcast_to(mean, population.means.shape),
            raw_diagonal=jnp.full_like(population.raw_diagonal, NOTHING),
            below_diagonal=jnp.zeros_like(population.below_diagonal),
        )
        yield "heterogeneity", replace(crowd, population=alike)
    carried = crowd.feedback.carried
    for number, part in enumerate(carried):
        others = (*carried[:number], _idle(part), *carried[number + 1 :])
        yield part.name, replace(crowd, feedback=replace(crowd.feedback, carried=others))
    if isinstance(crowd.effort, Elastic) and bool(np.any(np.asarray(crowd.effort.varied))):
        unmoved = jnp.full_like(crowd.effort.raw_elasticity, NOTHING)
        yield "effort", replace(crowd, effort=replace(crowd.effort, raw_elasticity=unmoved))
    if crowd.innovations is None:
        return
    patterns, followed = crowd.innovations.patterns, crowd.innovations.followed
    for number, level in enumerate(patterns.levels):
        without = replace(crowd.innovations, followed=followed.at[number].set(0.0))
        yield f"innovations of arrivals: {LEVELS[level]}", replace(crowd, innovations=without)
        still = {
            name: getattr(patterns, name).at[number].set(NOTHING)
            for name in ("first", "walk", "quick", "season")
        }
        fewer = replace(crowd.innovations, patterns=replace(patterns, **still))
        yield f"innovations of patterns: {LEVELS[level]}", replace(crowd, innovations=fewer)


def _idle(part: AbstractCarriedState) -> AbstractCarriedState:
    """The same state, moved by nothing and moving nothing."""
    still = {
        field.name: jnp.zeros_like(getattr(part, field.name))
        for field in fields(part)
        if field.name != "raw_retention"
    }
    return replace(part, **still)


@eqx.filter_jit
def _daily(
    crowd: Crowd, inputs: Inputs, outcomes: Outcomes, dispersion: Float[Array, " cohort"]
) -> Float[Array, " date"]:
    """log p of every day's arrivals and patterns given the days before it."""
    sweep = observe(crowd, inputs, outcomes, crowd.at_rest())
    told = crowd.log_likelihood(sweep.nodes, sweep.predictions, outcomes).sum((1, 2))
    mean = jnp.maximum(sweep.predictions.arrivals, LEAST_MEAN)
    spread = jnp.broadcast_to(dispersion[None, None], mean.shape)
    counted = negative_binomial.log_kernel(outcomes.arrivals, mean, spread)
    return told + counted.sum((1, 2))
