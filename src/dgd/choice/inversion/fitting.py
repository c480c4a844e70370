"""A fit by instruments alone, as the rest of the choice house knows fits."""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from dgd.choice.estimation.record import ALIKE, TYPES, EstimationRecord
from dgd.choice.inversion.gmm import estimate_quality
from dgd.choice.inversion.minimum import GRADIENT
from dgd.choice.inversion.quality_estimate import QualityEstimate
from dgd.choice.markets import Markets
from dgd.choice.settings import ChoiceSettings
from dgd.choice.starting import estimated
from dgd.choice.uncertainty import DRAW_SEED, DRAWS
from dgd.learning.runs import CONVERGED, UNCONVERGED, Run
from dgd.runtime import computing


class InvertedFit(NamedTuple):
    """What a fit needs of an estimate by instruments."""

    settings: ChoiceSettings
    run: Run
    record: EstimationRecord
    quality: Float[np.ndarray, "market slot"]
    vectors: Float[np.ndarray, "draw parameter"]
    """Parameters as likely as the estimate."""
    qualities: Float[np.ndarray, "draw market slot"]
    """What each of them leaves to quality."""


def fit_by_instruments(settings: ChoiceSettings, markets: Markets, seed: int) -> InvertedFit:
    """Invert shares into quality, and find parameters that have nothing to do with it.

    People are alike where `population="point"` was asked for; otherwise tastes and price
    sensitivity follow standard Gaussian propensities.
    """
    alike = settings.population == "point"
    found = estimate_quality(
        markets,
        heterogeneous=not alike,
        dim=settings.dim,
        nodes=settings.nodes,
        starts=settings.starts,
        seed=seed,
    )
    drawn = found.draws(np.random.default_rng(DRAW_SEED), DRAWS)
    with computing():
        vectors = [
            np.asarray(ravel_pytree(eqx.filter(one, estimated(one, alike, quality=False)))[0])
            for one, _ in drawn
        ]
    if not alike:
        settings = replace(settings, population="fixed", components=1, initial_scale=1.0)
    return InvertedFit(
        settings,
        _run(found, seed),
        _record(found, alike),
        found.quality,
        np.stack(vectors),
        np.stack([quality for _, quality in drawn]),
    )


def _run(found: QualityEstimate, seed: int) -> Run:
    objective = np.array([found.objective])
    return Run(
        seed=seed,
        start="instruments",
        parameters=found.demand,
        best_epoch=0,
        best_objective=found.objective,
        train_objective=objective,
        validation_objective=np.full(1, np.nan),
        reason=CONVERGED if found.converged else UNCONVERGED,
    )


def _record(found: QualityEstimate, alike: bool) -> EstimationRecord:
    how = "shares inverted, by instruments"
    if found.hansen is not None:
        how += f"; Hansen's J {found.hansen.statistic:.3g} (p {found.hansen.p_value:.2g})"
    with computing():
        support = found.demand.population.support()
        each = np.asarray(found.demand.price_sensitivity(support.points))
        mean = float((np.exp(np.asarray(support.log_weights)) * each).sum() / len(each))
    return EstimationRecord(
        chosen=ALIKE if alike else TYPES,
        how=how,
        dispersion=1.0,
        information=float(found.problem.design.markets.available.sum()),
        tolerance=GRADIENT,
        slope=found.gradient,
        gain=None,
        gain_error=None,
        agree=True,
        first_stage_f=found.first_stage,
        sensitivity=mean,
        sensitivity_error=0.0,
        starts=(),
        candidates=(),
    )
