"""Worlds of choosers, their parameters known, to draw markets from.

`gaussian_world` and `discrete_world` are the two generators of the controlled
choice experiment. The paper names their structure and no values; these are
ours, picked on other seeds than the experiment's so that a population without
differences does about as badly as the paper's, with the scores of all models
in view.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.scales import Scales
from dgd.choice.utility import Utility
from dgd.errors import InputError
from dgd.model.population.gaussian_mixture import GaussianMixture, raw_scale
from dgd.model.population.population import AbstractPopulation
from dgd.model.population.support_points import SupportPoints
from dgd.runtime import computing

PRODUCTS = ("a", "b", "c")
ATTRIBUTES = ("quality", "style")
PRICES = (0.5, 3.5)
OPPORTUNITIES = 4000
ATTRIBUTE_EFFECT = (1.0, 0.8, 0.2)
PRICE_INTERCEPT = 0.8
PRICE_LOADING = (-1.2, 0.3)
TRUE_NODES = 25
"""Nodes per dimension behind the true probabilities: many more than a fit uses."""


@dataclass(frozen=True, eq=False)
class ChoiceWorld:
    """Parameters to draw from, and the range of the prices to draw.

    Attributes are the constant and, standard normal, those named.
    """

    model: ChoiceDemand
    products: tuple[str, ...] = PRODUCTS
    attributes: tuple[str, ...] = ATTRIBUTES
    prices: tuple[float, float] = PRICES
    opportunities: int = OPPORTUNITIES


def gaussian_world(
    *,
    attribute_effect: Sequence[float] = ATTRIBUTE_EFFECT,
    price_intercept: float = PRICE_INTERCEPT,
    price_loading: Sequence[float] = PRICE_LOADING,
    prices: tuple[float, float] = PRICES,
) -> ChoiceWorld:
    """Two Gaussian types: many who watch the price, fewer who look for quality.

    Args:
        attribute_effect: what the constant, quality and style are worth at u = 0.
        price_intercept: a_C, of the price sensitivity softplus(a_C + v_C' u).
        price_loading: v_C, how the two dimensions of propensity move it.
        prices: the lowest and highest price to draw.
    """
    with computing():
        population = GaussianMixture(
            logits=jnp.asarray([[0.3, -0.3]]),
            means=jnp.asarray([[[-1.2, 0.4], [1.4, -0.5]]]),
            raw_diagonal=jnp.asarray([[[raw_scale(0.6), raw_scale(1.0)]] * 2]),
            below_diagonal=jnp.asarray([[[0.3], [-0.3]]]),
            initial_scale=0.5,
            nodes=TRUE_NODES,
        )
        model = _demand(population, attribute_effect, price_intercept, price_loading)
        return ChoiceWorld(model, prices=prices)


def discrete_world() -> ChoiceWorld:
    """Half the people watch the price; two smaller kinds look for quality, with unlike styles."""
    with computing():
        population = SupportPoints(
            logits=jnp.log(jnp.asarray([[0.5, 0.25, 0.25]])),
            points=jnp.asarray([[[-1.5, 0.3], [1.2, -0.9], [1.6, 0.9]]]),
        )
        return ChoiceWorld(_demand(population))


def _demand(
    population: AbstractPopulation,
    attribute_effect: Sequence[float] = ATTRIBUTE_EFFECT,
    price_intercept: float = PRICE_INTERCEPT,
    price_loading: Sequence[float] = PRICE_LOADING,
) -> ChoiceDemand:
    """Propensity moves price sensitivity and quality in its first dimension, style in both."""
    for name, given, wanted in (
        ("attribute_effect", attribute_effect, len(ATTRIBUTE_EFFECT)),
        ("price_loading", price_loading, len(PRICE_LOADING)),
    ):
        if len(given) != wanted:
            raise InputError(f"{name} is {list(given)}; give {wanted} numbers.")
    utility = Utility(
        attribute_effect=jnp.asarray(attribute_effect, float),
        attribute_loading=jnp.asarray([[0.6, 0.3], [0.9, -0.4], [0.3, 1.2]]),
        price_intercept=jnp.asarray(price_intercept, float),
        price_loading=jnp.asarray(price_loading, float),
    )
    return ChoiceDemand(population, utility, Scales.plain(3))
