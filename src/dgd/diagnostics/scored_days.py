"""The days on which a fit is looked at, and what it says of them."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from dgd.fit import Fit
from dgd.scoring.behavior_scores import joint_nll


class Said(NamedTuple):
    """One-day forecasts of every seed, and their joint NLL."""

    arrivals: Float[np.ndarray, "seed date unit cohort"]
    patterns: Float[np.ndarray, "seed date unit cohort pattern"]
    nll: Float[np.ndarray, " seed"]


def scored_days(fit: Fit) -> np.ndarray:
    """Day numbers: the test days, or the validation days where the panel ends with them."""
    stop = fit.split.validation_stop
    if stop < fit.panel.days:
        return np.arange(stop, fit.panel.days)
    return np.arange(fit.split.train_stop, stop)


def said_of(fit: Fit, days: np.ndarray) -> Said:
    """What the model of `fit` forecasts for `days`, each from the day before it."""
    predicted = fit.predict(days - 1, 1)
    arrivals, patterns = predicted.arrivals[:, 0], predicted.patterns[:, 0]
    counts = fit.panel.patterns[days].astype(np.float64)
    return Said(arrivals, patterns, np.array([joint_nll(counts, of) for of in patterns]))
