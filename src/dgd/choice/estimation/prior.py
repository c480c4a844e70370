r"""What is thought about differences between people before any count: that they are moderate.

.. math:: R = \frac12 \sum_i \Big(\frac{\theta_i - \theta^0_i}{\tau}\Big)^2

over loadings, means, shares and scales of types, on the scales that are learned on. What everyone
has in common (tastes, price sensitivity, absorbed effects) is left to the counts alone. The prior
is worth a few people's choices, so that it fades as counts grow; it also picks one of the many
parameter sets that mean the same distribution of tastes.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.model.population.gaussian_mixture import GaussianMixture
from dgd.model.population.support_points import SupportPoints


def surprise(demand: ChoiceDemand, reach: Float[Array, ""]) -> Float[Array, ""]:
    """R: half the squared departures, in units of `reach`."""
    utility, population = demand.utility, demand.population
    departures = [utility.attribute_loading, utility.price_loading, population.scale_departure()]
    if isinstance(population, GaussianMixture):
        departures += [population.means, population.logits]
    if isinstance(population, SupportPoints):
        departures += [population.points, population.logits]
    squares = [((departure / reach) ** 2).sum() for departure in departures]
    return jax.tree.reduce(jnp.add, squares) / 2
