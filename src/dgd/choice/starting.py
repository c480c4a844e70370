"""Where training starts: a logit in which everyone is alike, and small differences around it."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize
from scipy.special import logsumexp

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.choice.scales import Scales
from dgd.choice.settings import ChoiceSettings
from dgd.choice.utility import Utility
from dgd.model.population.gaussian_mixture import first_mixture
from dgd.model.population.named import POPULATIONS

LEAST_SENSITIVITY = 0.1
"""The start's price sensitivity is at least this, in units of the typical price, where the
data by themselves would have people like high prices."""
RIDGE = 1e-6
"""Decides between tastes that the data cannot tell apart."""
LOADING = 0.25
"""Standard deviation of the first loadings, on the scales that are learned on."""


@dataclass(frozen=True, eq=False)
class ChoiceStart:
    """What the first parameters are made from: what everyone has in common."""

    scales: Scales
    tastes: Float[np.ndarray, " attribute"]
    sensitivity: float

    @staticmethod
    def of(markets: Markets) -> "ChoiceStart":
        scales = Scales.of(markets)
        tastes, sensitivity = plain_logit(markets, scales)
        return ChoiceStart(scales, tastes, sensitivity)

    @staticmethod
    def blank(attributes: int) -> "ChoiceStart":
        """Numbers of the right shapes, for parameters that a file will fill."""
        return ChoiceStart(Scales.plain(attributes), np.zeros(attributes), 1.0)


def first_demand(
    settings: ChoiceSettings, start: ChoiceStart, cohorts: int, rng: np.random.Generator
) -> ChoiceDemand:
    """Parameters at the start of training; `rng` draws how people differ."""
    dim = settings.dim
    mixture = first_mixture(
        rng, cohorts, settings.components, dim, nodes=settings.nodes, scale=settings.initial_scale
    )
    loading = LOADING * rng.normal(size=(len(start.tastes), dim))
    utility = Utility(
        attribute_effect=jnp.asarray(start.tastes),
        attribute_loading=jnp.asarray(loading),
        price_intercept=jnp.asarray(np.log(np.expm1(start.sensitivity))),
        price_loading=jnp.asarray(LOADING * rng.normal(size=dim)),
    )
    return ChoiceDemand(POPULATIONS[settings.population](mixture), utility, start.scales)


def plain_logit(markets: Markets, scales: Scales) -> tuple[Float[np.ndarray, " attribute"], float]:
    """Tastes and price sensitivity of the logit that fits `markets` best, on `scales`.

    The loss is convex, so that this start is the same whatever came before it.
    """
    offers = scales.scaled(Offers.of(markets))
    known = np.concatenate([offers.attributes, -offers.price[..., None]], -1)
    count, size = markets.count, markets.size

    def loss(effects: np.ndarray) -> tuple[float, np.ndarray]:
        utility = np.where(markets.available, known @ effects, -np.inf)
        log_total = logsumexp(np.c_[np.zeros(len(size)), utility], axis=1)
        share = np.exp(utility - log_total[:, None])
        bought = (count * np.where(markets.available, utility, 0.0)).sum()
        value = (size @ log_total - bought) / size.sum() + RIDGE * effects @ effects
        surplus = size[:, None] * share - count
        slope = np.einsum("mj,mja->a", surplus, known) / size.sum() + 2 * RIDGE * effects
        return float(value), slope

    attributes = known.shape[-1] - 1
    start = np.r_[np.zeros(attributes), 1.0]
    bounds = [(None, None)] * attributes + [(LEAST_SENSITIVITY, None)]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return np.asarray(found[:-1]), float(found[-1])
