"""From markets to an estimate: everyone alike, people who differ, and which of them it is."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from dgd.choice.estimation.agreement import agreeing, substitution
from dgd.choice.estimation.choosing import Judged, judged, judged_elsewhere
from dgd.choice.estimation.covariance import sandwich
from dgd.choice.estimation.enough_nodes import enough
from dgd.choice.estimation.folds import held_out_folds
from dgd.choice.estimation.information import Information
from dgd.choice.estimation.problem import Problem
from dgd.choice.estimation.record import (
    ALIKE,
    TYPES,
    CandidateMade,
    EstimationRecord,
    StartMade,
)
from dgd.choice.estimation.search import TOLERANCE, search
from dgd.choice.estimation.typed import Searched, Typed, typed
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.markets import Markets
from dgd.choice.settings import KEPT, ChoiceSettings
from dgd.learning.loop import Progress
from dgd.learning.progress import telling
from dgd.learning.runs import CONVERGED, INTERRUPTED, UNCONVERGED, Run
from dgd.tables.labels import Label


class Estimate(NamedTuple):
    """What estimation found, and how."""

    settings: ChoiceSettings
    """Those asked for, with as many nodes as were needed."""
    fitted: FittedOffers
    run: Run
    record: EstimationRecord
    covariance: Float[np.ndarray, "parameter parameter"]


Validation = Markets | Sequence[Label] | float
"""What decides whether people differ: other markets, labels of some, or a fraction."""


def estimate(
    settings: ChoiceSettings,
    markets: Markets,
    validation: Validation,
    seeds: Sequence[int],
    progress: Progress | bool | None,
    keep_on_interrupt: bool,
) -> Estimate:
    """Estimate demand from the counts of `markets`, within `computing`."""
    folds = None if isinstance(validation, Markets) else held_out_folds(markets, validation)
    problem = Problem.of(settings, markets)
    if settings.population == "point":
        return _alike(problem, None, None, seeds[0], "nothing else was asked for")
    stop = threading.Event()
    with telling(progress, list(seeds), settings.epochs) as tell:
        types = typed(problem, seeds, tell, stop, keep_on_interrupt)
        best, nodes = (types.best, settings.nodes) if stop.is_set() else enough(problem, types)
        types = types._replace(searches=(best, *types.searches[1:]))
        verdict = None
        if settings.types != KEPT and not stop.is_set():
            verdict = (
                judged(problem, types, folds, stop)
                if folds is not None
                else judged_elsewhere(problem, types, validation)  # type: ignore[arg-type]
            )
    if verdict is not None and not verdict.types_earned:
        return _alike(problem, types, verdict, seeds[0], verdict.how)
    how = "types were asked for" if verdict is None else verdict.how
    problem = replace(problem, settings=replace(settings, nodes=nodes))
    return _types(problem, types, verdict, how)


def _types(problem: Problem, types: Typed, verdict: Judged | None, how: str) -> Estimate:
    best = types.best
    free, fixed = problem.divided(best.demand, alike=False)
    covariance = sandwich(free, problem.target(fixed, types.known), problem.markets, problem.stage)
    return Estimate(
        problem.settings,
        problem.fitted,
        _run(best),
        _record(problem, TYPES, how, types.known, best.found.slope, types, verdict),
        covariance,
    )


def _alike(
    problem: Problem, types: Typed | None, verdict: Judged | None, seed: int, how: str
) -> Estimate:
    demand = problem.alike
    free, fixed = problem.divided(demand, alike=True)
    size = len(problem.logit.tastes) + 1 + problem.fitted.level_count
    known = problem.information(demand, size)
    target = problem.target(fixed, known)
    # Already at the top, but where demand slopes upward or columns follow from each other.
    found = search(free, target, problem.settings.epochs)
    one = Searched(seed, 0, found, fixed)
    return Estimate(
        replace(problem.settings, population="point"),
        problem.fitted,
        _run(one),
        _record(problem, ALIKE, how, known, found.slope, types, verdict),
        sandwich(free, target, problem.markets, problem.stage),
    )


def _run(one: Searched) -> Run:
    reason = CONVERGED if one.found.converged else UNCONVERGED
    values = one.found.values
    return Run(
        seed=one.seed,
        start=f"plain logit {one.number + 1}",
        parameters=one.demand,
        best_epoch=max(len(values) - 1, 0),
        best_objective=one.found.value,
        train_objective=values,
        validation_objective=np.full(len(values), np.nan),
        reason=INTERRUPTED if one.found.stopped else reason,
    )


def _record(
    problem: Problem,
    chosen: str,
    how: str,
    known: Information,
    slope: float,
    types: Typed | None,
    verdict: Judged | None,
) -> EstimationRecord:
    starts = () if types is None else _starts(problem, types)
    logit, price = problem.logit, float(problem.scales.price)
    candidates = [
        CandidateMade(
            ALIKE,
            len(logit.tastes) + 1 + len(logit.levels),
            (logit.log_likelihood - problem.top) / known.dispersion,
            None if verdict is None else (verdict.top - verdict.alike) / verdict.size,
        )
    ]
    if types is not None:
        candidates.append(
            CandidateMade(
                TYPES,
                types.parameters,
                (_log_likelihood(problem, types.best) - problem.top) / known.dispersion,
                None if verdict is None else (verdict.top - verdict.types) / verdict.size,
            )
        )
    return EstimationRecord(
        chosen=chosen,
        how=how,
        dispersion=known.dispersion,
        information=known.amount,
        tolerance=TOLERANCE,
        slope=slope,
        gain=None if verdict is None else verdict.gain,
        gain_error=None if verdict is None or np.isinf(verdict.error) else verdict.error,
        agree=not starts or agreeing(starts),
        first_stage_f=None if problem.stage is None else problem.stage.f_statistic,
        sensitivity=logit.sensitivity / price,
        sensitivity_error=logit.sensitivity_error / price,
        starts=starts,
        candidates=tuple(candidates),
    )


def _log_likelihood(problem: Problem, one: Searched) -> float:
    return float(problem.evidence.log_likelihoods(one.demand).sum())


def _starts(problem: Problem, types: Typed) -> tuple[StartMade, ...]:
    best = types.best.found.value
    made = []
    for one in types.searches:
        elasticity, left = substitution(one.demand, problem.markets, problem.offers)
        found = one.found
        made.append(
            StartMade(
                one.seed,
                one.number + 1,
                found.steps,
                (found.value - best) * types.known.amount,
                found.slope,
                found.converged,
                elasticity,
                left,
            )
        )
    return tuple(made)
