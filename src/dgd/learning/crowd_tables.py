"""What a fitted model says about the crowd, as tidy tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from dgd.model.crowd import Crowd
from dgd.model.effort import AbstractEffortResponse, EffortCurve
from dgd.model.population.population import Types
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.runtime import computing
from dgd.tables.labels import Label


def population_table(
    crowds: Sequence[Crowd], seeds: Sequence[int], cohorts: Sequence[Label]
) -> pl.DataFrame:
    """One row per seed, cohort and response type: share, mean and spread of each dimension."""
    rows = []
    for seed, crowd in zip(seeds, crowds, strict=True):
        with computing():
            types = crowd.population.types()
        rows += [{"seed": seed, **row} for row in type_rows(types, cohorts)]
    return pl.DataFrame(rows)


def type_rows(types: Types, cohorts: Sequence[Label]) -> list[dict[str, Any]]:
    """Every cohort's response types; dimensions are numbered where there are several."""
    share, mean, spread = (np.asarray(part) for part in types)
    rows = []
    for index, component in np.ndindex(*share.shape):
        row = {
            "cohort": cohorts[index],
            "type": component + 1,
            "share": float(share[index, component]),
        }
        dims = mean.shape[-1]
        for d in range(dims):
            suffix = "" if dims == 1 else f" {d + 1}"
            row[f"mean{suffix}"] = float(mean[index, component, d])
            row[f"spread{suffix}"] = float(spread[index, component, d])
        rows.append(row)
    return rows


def dynamics_table(crowds: Sequence[Crowd], seeds: Sequence[int]) -> pl.DataFrame:
    """One row per seed and factor: how much of each state a day carries over or corrects."""
    with computing():
        rows = [
            {"seed": seed, "factor": name, "value": float(factor)}
            for seed, crowd in zip(seeds, crowds, strict=True)
            for name, factor in crowd.feedback.factors().items()
        ]
    return pl.DataFrame(rows, schema={"seed": pl.Int64, "factor": pl.String, "value": pl.Float64})


def effort_table(
    response: AbstractEffortResponse, curve: EffortCurve, panel: Panel, split: Split
) -> pl.DataFrame:
    """One row per cohort: how its arrivals answer to effort, and which efforts were seen."""
    effort = panel.effort[split.train]
    worked = np.where(effort > 0, effort, np.nan).reshape(-1, len(panel.cohorts))
    never = np.isnan(worked).all(0)
    seen = np.where(never, 0.0, worked)
    learned = response.learned(len(panel.cohorts))
    return pl.DataFrame(
        {
            "cohort": list(panel.cohorts),
            "elasticity": curve.elasticity,
            "saturation": curve.saturation,
            "usual": np.where(learned, curve.usual, np.nanmean(seen, 0)),
            "least": np.nanmin(seen, 0),
            "most": np.nanmax(seen, 0),
            "learned": learned,
        }
    )
