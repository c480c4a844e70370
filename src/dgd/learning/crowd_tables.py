"""What a fitted model says about the crowd, as tidy tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from dgd.model.feedback import Feedback
from dgd.model.model import Model
from dgd.model.population import Types
from dgd.runtime import computing
from dgd.tables.labels import Label

FACTORS = {
    "memory retention": "memory_retention",
    "fatigue retention": "fatigue_retention",
    "shift retention": "shift_retention",
    "environment retention": "environment_retention",
    "common correction": "common_gain",
    "unit correction": "unit_gain",
}


def population_table(
    models: Sequence[Model], seeds: Sequence[int], cohorts: Sequence[Label]
) -> pl.DataFrame:
    """One row per seed, cohort and response type: share, mean and spread of each dimension."""
    rows = []
    for seed, model in zip(seeds, models, strict=True):
        with computing():
            types = model.population.types()
        rows += [{"seed": seed, **row} for row in type_rows(types, cohorts)]
    return pl.DataFrame(rows)


def type_rows(types: Types, cohorts: Sequence[Label]) -> list[dict[str, Any]]:
    """Every cohort's response types; dimensions are numbered where there are several."""
    share, mean, spread = (np.asarray(part) for part in types)
    rows = []
    for place, component in np.ndindex(*share.shape):
        row = {
            "cohort": cohorts[place],
            "type": component + 1,
            "share": float(share[place, component]),
        }
        dims = mean.shape[-1]
        for d in range(dims):
            suffix = "" if dims == 1 else f" {d + 1}"
            row[f"mean{suffix}"] = float(mean[place, component, d])
            row[f"spread{suffix}"] = float(spread[place, component, d])
        rows.append(row)
    return rows


def dynamics_table(models: Sequence[Model], seeds: Sequence[int]) -> pl.DataFrame:
    """One row per seed and factor: how much of each state a day carries over or corrects."""
    with computing():
        rows = [
            {"seed": seed, "factor": name, "value": float(getattr(model.feedback, attribute))}
            for seed, model in zip(seeds, models, strict=True)
            if isinstance(model.feedback, Feedback)
            for name, attribute in FACTORS.items()
        ]
    return pl.DataFrame(rows, schema={"seed": pl.Int64, "factor": pl.String, "value": pl.Float64})
