"""Do searches that reach the same likelihood say the same about substitution?"""

from collections.abc import Sequence

import numpy as np

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.demand import Demand
from dgd.choice.estimation.record import StartMade
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers

ALIKE_LIKELY = 2.0
"""Ends whose log-likelihoods differ by less cannot be told apart by the counts."""
TOLERATED = 0.05
"""How far apart the diversion to outside of such ends may lie; and, relative, the elasticity."""


def substitution(demand: ChoiceDemand, markets: Markets, offers: Offers) -> tuple[float, float]:
    """Own-price elasticity and diversion to outside, means over offers weighed by their sales."""
    found = Demand((demand,), markets, offers)
    own = np.einsum("mjj->mj", np.asarray(found.price_derivatives.products))
    share = np.asarray(found.shares.products)
    at = markets.available & (own < 0) & (share > 0)
    weight = (markets.size[:, None] * share)[at]
    elasticity = (own[at] * markets.price[at] / share[at]) @ weight / weight.sum()
    left = -(found.price_derivatives.outside[at] / own[at]) @ weight / weight.sum()
    return float(elasticity), float(left)


def agreeing(starts: Sequence[StartMade]) -> bool:
    """Whether all ends that are as likely as the best say what it says."""
    near = [start for start in starts if start.behind <= ALIKE_LIKELY]
    left = [start.to_outside for start in near]
    elastic = [start.elasticity for start in near]
    return bool(
        np.ptp(left) <= TOLERATED and np.ptp(elastic) <= TOLERATED * max(np.abs(elastic).max(), 1.0)
    )
