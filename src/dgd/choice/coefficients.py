"""What was estimated, in the user's own units, with standard errors."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Array, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.segments import SENSITIVITY, taste
from dgd.choice.uncertainty import HIGH, LOW, Doubt, reach
from dgd.runtime import computing

RESIDUAL = "price residual"
"""What a first stage leaves of prices, in standard deviations."""


def coefficients_table(
    demand: ChoiceDemand,
    doubt: Doubt,
    fitted: FittedOffers,
    level: float,
    *,
    differ: bool,
    controlled: bool,
) -> pl.DataFrame:
    """One row per figure: estimate, standard error and range.

    Tastes and price sensitivity are means over people; where people differ their spreads, which are
    standard deviations over people, follow. Absorbed labels are held against the first of their
    column.
    """
    markets = fitted.markets
    people = [SENSITIVITY, *(taste(name) for name in markets.attribute_names)]
    names = [*people, *([f"spread of {name}" for name in people] if differ else [])]
    names += _labels(fitted)
    names += [RESIDUAL] if controlled else []

    def figures(demand: ChoiceDemand) -> Float[Array, " figure"]:
        mean, spread = _people(demand, fitted)
        parts = [mean, *([spread] if differ else []), demand.utility.level_effect]
        if controlled:
            parts.append(demand.utility.quality_effect[None])
        return jnp.concatenate(parts)

    with computing():
        found = np.asarray(figures(demand))
    error = doubt.errors(figures)
    far = reach(level, doubt.clusters) * error
    return pl.DataFrame(
        {
            "coefficient": names,
            "estimate": found,
            "standard error": error,
            LOW: found - far,
            HIGH: found + far,
        }
    )


def _labels(fitted: FittedOffers) -> Sequence[str]:
    marks = fitted.markets.marks
    return [
        f"{column} {label}"
        for column in fitted.markets.columns.absorb
        for label in marks[column].labels[1:]
    ]


def _people(
    demand: ChoiceDemand, fitted: FittedOffers
) -> tuple[Float[Array, " figure"], Float[Array, " figure"]]:
    """Mean and standard deviation of price sensitivity and tastes over everyone."""
    size = fitted.markets.cohort_size
    part = jnp.asarray((size / size.sum(1, keepdims=True)).mean(0))
    points, log_weights = demand.population.support()
    weight = part[:, None] * jnp.exp(log_weights)
    values = jnp.concatenate(
        [demand.price_sensitivity(points)[..., None], demand.tastes(points)], -1
    )
    mean = jnp.einsum("gi,gia->a", weight, values)
    around = values - mean[None, None]
    variance = jnp.einsum("gi,gia->a", weight, around**2)
    return mean, jnp.sqrt(jnp.maximum(variance, 1e-300))
