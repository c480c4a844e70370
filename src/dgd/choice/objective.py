"""What training minimises: the multinomial likelihood of market counts, and the regulariser."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers

SMALLEST_SHARE = 1e-300
"""Keeps the logarithm finite where a share has underflowed."""


class Sales(NamedTuple):
    """What was counted in every market."""

    products: Float[Array, "market slot"]
    outside: Float[Array, " market"]

    @staticmethod
    def of(markets: Markets) -> "Sales":
        return Sales(jnp.asarray(markets.count), jnp.asarray(markets.outside))


@dataclass(frozen=True)
class ChoiceObjective:
    """The weight of the regulariser, lambda_R, beside the likelihood."""

    penalty_weight: float

    def train(self, model: ChoiceDemand, offers: Offers, sales: Sales) -> Float[Array, ""]:
        """Likelihood loss plus lambda_R times the regulariser."""
        return choice_loss(model, offers, sales) + self.penalty_weight * penalty(model)


def choice_loss(model: ChoiceDemand, offers: Offers, sales: Sales) -> Float[Array, ""]:
    r"""Negative multinomial log-likelihood of one opportunity.

    .. math:: L = -\frac{\sum_m \sum_{b \in A_m \cup \{0\}} C_{mb} \log s_{mb}}
        {\sum_m \sum_b C_{mb}}
    """
    shares = model.shares(offers)
    products = (sales.products * _log(shares.products)).sum()
    outside = (sales.outside * _log(shares.outside)).sum()
    return -(products + outside) / (sales.products.sum() + sales.outside.sum())


def penalty(model: ChoiceDemand) -> Float[Array, ""]:
    """R: mean square of tastes, loadings and the scales' departures from the start."""
    utility = model.utility
    terms = [
        utility.attribute_effect,
        utility.attribute_loading,
        utility.price_loading,
        model.population.scale_departure(),
    ]
    size = sum(np.prod(x.shape) for x in terms)
    return sum(((x**2).sum() for x in terms), jnp.zeros(())) / float(size)


def _log(share: Array) -> Array:
    return jnp.log(jnp.maximum(share, SMALLEST_SHARE))
