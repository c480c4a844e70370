"""How far candidates were from arrivals at past origins: what their weights follow from.

Errors of busy series are taken by their roots, in which a few extraordinary days do not decide.
Where most cells are empty on most days, the smallest absolute error is that of expecting nobody;
there the likelihood of the counts is taken instead, which asks for their mean.
"""

import numpy as np
from jaxtyping import Float, Int

from dgd.anchoring.exposure import Exposed
from dgd.anchoring.seasons import places
from dgd.panel.panel import Panel

SPARSE = 3.0
"""Arrivals a cell and day below which many units are sparse."""
SPARSE_SOFTNESS = 0.005
"""Log-likelihood per arrival below which two candidates of sparse cells are hardly told apart."""
LEAST_EXPECTED = 0.01
"""Arrivals below which an expectation is no more surprising when somebody comes."""
LEAST_ERROR = 1e-9


def is_sparse(series: Exposed) -> bool:
    """Whether these are cells of many units with few arrivals each."""
    return bool(series.hierarchies) and float(series.counts.mean()) < SPARSE


def arrival_losses(
    panel: Panel,
    series: Exposed,
    days: Int[np.ndarray, " target"],
    blocks: tuple[int, ...],
    cycle: int,
    recent: float,
) -> Float[np.ndarray, "block candidate"]:
    """The loss of every candidate on the days, older ones faded by the half-life `recent`: relative
    to the least, or of sparse cells per arrival."""
    known, sparse = len(series.counts), is_sparse(series)
    losses = np.zeros((len(blocks), series.candidates(cycle)))
    weights = np.zeros(len(blocks))
    scored = set(days.tolist())
    place = places(panel, np.arange(known + max(blocks)), cycle)
    for origin, states in enumerate(series.walked(place[:known], cycle)):
        for row, step in enumerate(blocks):
            day = origin + step
            if day not in scored:
                continue
            expected, counted = series.ahead(states, day, place[day], step), series.counts[day]
            weight = 2.0 ** (-(known - 1 - day) / recent)
            losses[row] += weight * (_surprises if sparse else _roots)(expected, counted)
            weights[row] += weight * (counted.sum() if sparse else 1.0)
    if sparse:
        return np.asarray(losses / np.maximum(weights[:, None], 1.0))
    errors = (losses / weights[:, None]) ** 2
    return np.asarray(errors / np.maximum(errors.min(1, keepdims=True), LEAST_ERROR))


def _roots(
    expected: Float[np.ndarray, "candidate series"], counted: Float[np.ndarray, " series"]
) -> Float[np.ndarray, " candidate"]:
    """Roots of the absolute errors of a day."""
    return np.sqrt(np.abs(expected - counted).sum(1))


def _surprises(
    expected: Float[np.ndarray, "candidate series"], counted: Float[np.ndarray, " series"]
) -> Float[np.ndarray, " candidate"]:
    """Negative log-likelihoods of a day's Poisson counts, without what all have in common."""
    likely = np.maximum(expected, LEAST_EXPECTED)
    return np.asarray(likely.sum(1) - np.log(likely) @ counted)
