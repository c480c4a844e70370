"""The bootstrap: the same estimate on clusters drawn anew, again and again."""

from dataclasses import replace
from functools import partial
from threading import Event

import equinox as eqx
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.estimation.evidence import clusters_of
from dgd.choice.estimation.information import Information
from dgd.choice.estimation.plain_logit import plain_logit
from dgd.choice.estimation.problem import Problem
from dgd.choice.estimation.search import search
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.instruments.first_stage import first_stage
from dgd.choice.settings import ChoiceSettings
from dgd.learning.loop import made_side_by_side
from dgd.runtime import computing


def resampled(
    settings: ChoiceSettings,
    fitted: FittedOffers,
    demand: ChoiceDemand,
    alike: bool,
    draws: int,
    seed: int,
) -> Float[np.ndarray, "draw parameter"]:
    """Estimates on as many clusters drawn with replacement, first stage included.

    What was decided on all markets stays decided: whether people differ, and how many nodes it
    takes. A search begins at the estimate.
    """
    problem = Problem.of(settings, fitted.markets)
    free, _ = problem.divided(demand, alike)
    known = problem.information(demand, len(ravel_pytree(free)[0]))
    rng = np.random.default_rng(seed)
    many = problem.evidence.clusters
    weights = rng.multinomial(many, np.full(many, 1 / many), size=draws).astype(float)
    one = partial(_estimated, problem, demand, alike, known)
    return np.stack(made_side_by_side([partial(one, weight) for weight in weights], Event(), False))


def _estimated(
    problem: Problem,
    demand: ChoiceDemand,
    alike: bool,
    known: Information,
    weight: Float[np.ndarray, " cluster"],
) -> Float[np.ndarray, " parameter"]:
    with computing():
        problem = _with_first_stage(problem, weight)
        if alike:
            of_market = weight[clusters_of(problem.markets)]
            logit = plain_logit(
                problem.markets, problem.offers, problem.scales, problem.fitted.level_count,
                of_market,
            )  # fmt: skip
            demand = problem.alike_at(logit)
        free, fixed = problem.divided(demand, alike)
        if not alike:
            target = problem.target(fixed, known, weight)
            free = search(free, target, problem.settings.epochs).free
        return np.asarray(ravel_pytree(free)[0])


def _with_first_stage(problem: Problem, weight: Float[np.ndarray, " cluster"]) -> Problem:
    """The problem with what prices leave unexplained in the clusters as they were drawn."""
    if problem.stage is None:
        return problem
    of_market = weight[clusters_of(problem.markets)]
    stage = first_stage(FittedOffers.plain(problem.markets), of_market)
    # On the scale of all markets, so that what it is worth means the same.
    residual = stage.residual * (stage.scale / problem.stage.scale)
    fitted = FittedOffers(problem.markets, residual)
    offers = fitted.of(problem.markets)
    evidence = eqx.tree_at(lambda e: e.offers, problem.evidence, offers)
    return replace(problem, fitted=fitted, offers=offers, evidence=evidence)
