"""Have differences between people earned their place? Clusters that were held out decide."""

import threading
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from dgd.choice.estimation.evidence import ChoiceEvidence, saturated
from dgd.choice.estimation.problem import Problem
from dgd.choice.estimation.search import search
from dgd.choice.estimation.target import log_likelihoods
from dgd.choice.estimation.typed import Typed
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.markets import Markets
from dgd.learning.loop import made_side_by_side
from dgd.runtime import computing

ERRORS = 1.0
"""Types must gain so many standard errors of the gain over held-out clusters."""


LEAST_GAIN = 1.0
"""... and so much of the log-likelihood: less is not worth speaking of types."""


class Judged(NamedTuple):
    """What held-out clusters say."""

    alike: float
    types: float
    """Log-likelihoods of what was held out."""
    gain: float
    error: float
    top: float
    """The log-likelihood of held-out shares just as observed."""
    size: float
    how: str

    @property
    def types_earned(self) -> bool:
        return self.gain > max(ERRORS * self.error, LEAST_GAIN)


def judged(
    problem: Problem,
    typed: Typed,
    folds: Sequence[Bool[np.ndarray, " cluster"]],
    stop: threading.Event,
) -> Judged:
    """Both estimated again without each fold, and scored on it.

    Types start from where all markets have led them: what was held out may choose the hollow
    that is searched, not where in it the search ends.
    """
    makers = [partial(_scored, problem, typed, fold, stop) for fold in folds]
    found = made_side_by_side(makers, stop, keep_on_interrupt=False)
    alike, types = (np.concatenate(part) for part in zip(*found, strict=True))
    held_out = np.any(folds, axis=0)
    at = held_out[np.asarray(problem.evidence.cluster)]
    labels = [label for label, out in zip(problem.markets.markets, at, strict=True) if out]
    scored = problem.markets.select(labels)
    each = "each in one turn" if len(folds) > 1 else "together"
    how = f"{len(alike)} of {problem.evidence.clusters} clusters held out, {each}"
    return _judgement(alike, types, typed, scored, how)


def judged_elsewhere(problem: Problem, typed: Typed, validation: Markets) -> Judged:
    """Both scored on other markets."""
    with computing():
        fitted = FittedOffers(problem.markets, problem.fitted.quality)
        evidence = ChoiceEvidence.of(validation, fitted.of(validation))
        alike, types = (
            np.asarray(log_likelihoods(demand, evidence))
            for demand in (problem.alike, typed.best.demand)
        )
    return _judgement(alike, types, typed, validation, f"{len(alike)} other clusters")


def _scored(
    problem: Problem, typed: Typed, fold: Bool[np.ndarray, " cluster"], stop: threading.Event
) -> tuple[Float[np.ndarray, " held_out"], Float[np.ndarray, " held_out"]]:
    with computing():
        free, fixed = problem.divided(typed.best.demand, alike=False)
        target = problem.target(fixed, typed.known, (~fold).astype(float))
        found = search(free, target, problem.settings.epochs, stop=stop, finish=False)
        types = typed.best._replace(found=found, fixed=fixed).demand
        both = (problem.alike_without(fold), types)
        alike, differing = (
            np.asarray(log_likelihoods(demand, problem.evidence))[fold] for demand in both
        )
    return alike, differing


def _judgement(
    alike: np.ndarray, types: np.ndarray, typed: Typed, scored: Markets, how: str
) -> Judged:
    gains = (types - alike) / typed.known.dispersion
    error = float(np.sqrt(len(gains)) * gains.std(ddof=1)) if len(gains) > 1 else np.inf
    return Judged(
        float(alike.sum()),
        float(types.sum()),
        float(gains.sum()),
        error,
        saturated(scored),
        float(scored.size.sum()),
        how,
    )
