"""How sharply the objective bends by what each unit has of its own, as its counts say."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from dgd.learning.objective import Objective
from dgd.learning.unit_prior import UnitPrior, UnitSums

UNKNOWN = 0.5
"""Arrivals added to every cell, so that an empty one bends too."""


class Curvature(NamedTuple):
    """Second derivatives, and nearly all of them: units hardly meet."""

    arrival: Float[np.ndarray, "unit cohort"]
    response: Float[np.ndarray, "unit behavior"]


def curvature_of_units(
    sums: UnitSums,
    prior: UnitPrior,
    rates: Float[np.ndarray, "cohort behavior"],
    objective: Objective,
    days: int,
    units: int,
    arrivals: float,
) -> Curvature:
    """Of the objective over that many days, units and arrivals in all.

    A cell's log-intensity bends by its arrivals (fewer where these scatter), the log-odds of a
    behaviour by the variance of those who showed it; both by the strength that holds them.
    """
    a_day = sums.arrivals / days
    seen = (sums.arrivals + UNKNOWN) / (1 + a_day / objective.dispersion)
    of_cell = max(objective.count_weight, 1e-12) / (units * sums.arrivals.shape[1] * days)
    chance = (sums.arrivals + UNKNOWN) @ (rates * (1 - rates))
    return Curvature(
        of_cell * (seen + prior.arrival_strength),
        (chance + prior.response_strength) / max(arrivals, 1.0),
    )
