"""Where a search starts: a logit in which everyone is alike, and differences around it."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PyTree

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.estimation.plain_logit import PlainLogit, plain_logit
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.scales import Scales
from dgd.choice.settings import ChoiceSettings
from dgd.choice.utility import Utility
from dgd.model.population.gaussian_mixture import first_mixture
from dgd.model.population.named import POPULATIONS
from dgd.model.population.support_points import SupportPoints

LEAST_SENSITIVITY = 0.1
"""The start's price sensitivity is at least this, in units of the typical price, where the
data by themselves would have people like high prices."""
SMALLEST_SENSITIVITY = 1e-6
"""What is left of the price sensitivity of people who are alike, where demand slopes upward."""
LOADING = 0.25
"""Standard deviation of the first loadings, on the scales that are learned on."""


@dataclass(frozen=True, eq=False)
class ChoiceStart:
    """What the first parameters are made from: what everyone has in common."""

    scales: Scales
    tastes: Float[np.ndarray, " attribute"]
    sensitivity: float
    levels: Float[np.ndarray, " level"]
    quality: float = 1.0

    @staticmethod
    def of(fitted: FittedOffers) -> "ChoiceStart":
        """The plain logit of the markets of a fit."""
        scales = Scales.of(fitted.markets)
        offers = fitted.of(fitted.markets)
        return ChoiceStart.at(
            scales, plain_logit(fitted.markets, offers, scales, fitted.level_count)
        )

    @staticmethod
    def at(scales: Scales, logit: PlainLogit) -> "ChoiceStart":
        return ChoiceStart(scales, logit.tastes, logit.sensitivity, logit.levels, logit.quality)

    @staticmethod
    def blank(attributes: int, levels: int = 0) -> "ChoiceStart":
        """Numbers of the right shapes, for parameters that a file will fill."""
        return ChoiceStart(Scales.plain(attributes), np.zeros(attributes), 1.0, np.zeros(levels))


def first_demand(
    settings: ChoiceSettings, start: ChoiceStart, cohorts: int, rng: np.random.Generator
) -> ChoiceDemand:
    """Parameters at the start of a search; `rng` draws how people differ."""
    dim = settings.dim
    mixture = first_mixture(
        rng, cohorts, settings.components, dim, nodes=settings.nodes, scale=settings.initial_scale
    )
    loading = LOADING * rng.normal(size=(len(start.tastes), dim))
    utility = _utility(start, loading, LOADING * rng.normal(size=dim), LEAST_SENSITIVITY)
    return ChoiceDemand(POPULATIONS[settings.population](mixture), utility, start.scales)


def alike_demand(start: ChoiceStart, cohorts: int, dim: int) -> ChoiceDemand:
    """Demand of people who are all the same: the plain logit itself."""
    nobody = np.zeros((len(start.tastes), dim))
    population = SupportPoints(
        jnp.asarray(np.zeros((cohorts, 1))), jnp.asarray(np.zeros((cohorts, 1, dim)))
    )
    utility = _utility(start, nobody, np.zeros(dim), SMALLEST_SENSITIVITY)
    return ChoiceDemand(population, utility, start.scales)


def estimated(demand: ChoiceDemand, alike: bool, quality: bool) -> PyTree[bool]:
    """True for every array that a search may change.

    Where all are alike only what they have in common is; what quality is worth is, where a first
    stage found some.
    """
    free = demand.trainable()
    free = eqx.tree_at(lambda d: d.utility.quality_effect, free, quality)
    if not alike:
        return free
    nothing = jax.tree.map(lambda _: False, demand.population)
    return eqx.tree_at(
        lambda d: (d.population, d.utility.attribute_loading, d.utility.price_loading),
        free,
        (nothing, False, False),
    )


def _utility(
    start: ChoiceStart, loading: np.ndarray, price_loading: np.ndarray, least: float
) -> Utility:
    sensitivity = max(start.sensitivity, least)
    return Utility(
        attribute_effect=jnp.asarray(start.tastes),
        attribute_loading=jnp.asarray(loading),
        price_intercept=jnp.asarray(sensitivity + np.log(-np.expm1(-sensitivity))),
        price_loading=jnp.asarray(price_loading),
        level_effect=jnp.asarray(start.levels),
        quality_effect=jnp.asarray(start.quality),
    )
