"""How far a figure of consumer surplus can be trusted.

Surplus divides by price sensitivity. Whoever hardly minds prices is worth a
fortune in it, and market counts say little about how little they mind. The
change a price makes is safe from this, since nobody can lose more than the
difference in price; levels, and changes of what is on offer, are not.
"""

import warnings
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.runtime import computing

CARELESS = 0.1
"""Careless are those whose price sensitivity is below so many of the mean."""
TOO_MUCH = 0.5
"""The part of a surplus that may be theirs before it is remarked on."""


def warn_of_careless(
    parameters: Sequence[ChoiceDemand], surplus: Float[np.ndarray, "seed market cohort node"]
) -> None:
    """Warn where most of a surplus, or of its change, belongs to people who hardly mind prices."""
    belongs, people = [], []
    for demand, parts in zip(parameters, surplus, strict=True):
        with computing():
            points, log_weights = demand.population.support()
            sensitivity = np.asarray(demand.price_sensitivity(points))
        weight = np.exp(np.asarray(log_weights)) / len(log_weights)
        careless = sensitivity < CARELESS * (weight * sensitivity).sum()
        size = np.abs(parts)
        belongs.append(size[:, careless].sum() / max(size.sum(), np.finfo(float).tiny))
        people.append(weight[careless].sum())
    if np.mean(belongs) > TOO_MUCH:
        warnings.warn(
            f"{np.mean(belongs):.0%} of this surplus belongs to the {np.mean(people):.1%} of "
            "people who mind prices less than a tenth as much as the mean; counts say little "
            "about them: trust the surplus of price changes only.",
            UserWarning,
            stacklevel=3,
        )
