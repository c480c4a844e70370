"""Who is there and who is seen, as a table."""

from collections.abc import Callable
from typing import Any

import polars as pl

from dgd.fit import Fit
from dgd.learning.crowd_tables import type_rows
from dgd.model.crowd import Crowd
from dgd.model.population.population import AbstractPopulation
from dgd.runtime import computing
from dgd.tables.frames import from_polars

VIEWS: dict[str, Callable[[Crowd], AbstractPopulation]] = {
    "there": Crowd.who_is_there,
    "seen": Crowd.who_is_seen,
}


def people(fit: Fit, kind: str | None = None) -> Any:
    """One row per seed, view, cohort and response type: share, mean and spread.

    "there" is the population itself; "seen" is the population behind recorded
    arrivals, in which types that are reached often weigh more.
    """
    rows = []
    for seed, crowd in zip(fit.seeds, fit.crowds, strict=True):
        for view, of in VIEWS.items():
            with computing():
                types = of(crowd).types()
            rows += [
                {"seed": seed, "people": view, **row} for row in type_rows(types, fit.panel.cohorts)
            ]
    return from_polars(pl.DataFrame(rows), kind or fit.panel.kind)
