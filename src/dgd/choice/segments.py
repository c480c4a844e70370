"""Who chooses how: tastes and price sensitivity across the population."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from dgd.choice.choice_demand import ChoiceDemand
from dgd.runtime import computing
from dgd.tables.labels import Label

SENSITIVITY = "price sensitivity"


def choosers_table(
    parameters: Sequence[ChoiceDemand],
    seeds: Sequence[int],
    cohorts: Sequence[Label],
    attributes: Sequence[str],
) -> pl.DataFrame:
    """One row per seed, cohort and support point: its weight in the cohort, and how it chooses."""
    parts = []
    for seed, demand in zip(seeds, parameters, strict=True):
        with computing():
            points, log_weights = demand.population.support()
            types = demand.population.types().share.shape[1]
            weight = np.exp(np.asarray(log_weights))
            sensitivity = np.asarray(demand.price_sensitivity(points))
            tastes = np.asarray(demand.tastes(points))
        cohort, node = (index.ravel() for index in np.indices(weight.shape))
        parts.append(
            pl.DataFrame(
                {
                    "seed": np.full(weight.size, seed),
                    "cohort": [cohorts[index] for index in cohort],
                    # A type's nodes stand next to each other, as many for each type.
                    "type": node // (weight.shape[1] // types) + 1,
                    "weight": weight.ravel(),
                    SENSITIVITY: sensitivity.ravel(),
                    **{
                        taste(name): tastes[..., index].ravel()
                        for index, name in enumerate(attributes)
                    },
                }
            )
        )
    return pl.concat(parts)


def segments_table(choosers: pl.DataFrame, attributes: Sequence[str]) -> pl.DataFrame:
    """One row per seed, cohort and type: its share, its mean tastes and price sensitivity, and
    how far price sensitivity spreads within it."""
    weight, sensitivity = pl.col("weight"), pl.col(SENSITIVITY)

    def mean(value: pl.Expr) -> pl.Expr:
        return (weight * value).sum() / weight.sum()

    around = (sensitivity - mean(sensitivity)) ** 2
    return choosers.group_by("seed", "cohort", "type", maintain_order=True).agg(
        weight.sum().alias("share"),
        mean(sensitivity).alias(SENSITIVITY),
        mean(around).sqrt().alias(f"{SENSITIVITY} spread"),
        *(mean(pl.col(taste(name))).alias(taste(name)) for name in attributes),
    )


def taste(attribute: str) -> str:
    """The column that holds the taste for `attribute`."""
    return f"taste for {attribute}"
