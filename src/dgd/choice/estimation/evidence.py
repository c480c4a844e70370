"""ChoiceEvidence: what was offered, what was chosen, and whose choices belong together."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.markets import Markets
from dgd.choice.objective import SMALLEST_SHARE, Sales
from dgd.choice.offers import Offers


class ChoiceEvidence(eqx.Module):
    """Offers and sales as the likelihood sees them.

    A cluster is what is drawn, held out and resampled as one: a market or, where markets are
    repeated choices, a household.
    """

    offers: Offers
    sales: Sales
    cluster: Int[Array, " market"]
    clusters: int = eqx.field(static=True)
    repeated: bool = eqx.field(static=True)
    """Whether a cluster's choices are those of one household with the same tastes."""

    @staticmethod
    def of(markets: Markets, offers: Offers) -> "ChoiceEvidence":
        cluster = clusters_of(markets)
        return ChoiceEvidence(
            offers,
            Sales.of(markets),
            jnp.asarray(cluster),
            int(cluster.max()) + 1,
            markets.columns.household is not None,
        )

    def log_likelihoods(self, demand: ChoiceDemand) -> Float[Array, " cluster"]:
        r"""The log-likelihood of every cluster's choices.

        .. math:: \sum_m \sum_b C_{mb} \log s_{mb} \qquad \text{or} \qquad
            \log E\Big[\prod_m \prod_b p_m(b \mid U)^{C_{mb}}\Big]

        the first where every opportunity is another person's, the second where all markets of a
        cluster are choices of one household.
        """
        if self.repeated:
            return self._of_households(demand)
        shares = demand.shares(self.offers)
        bought = (self.sales.products * _log(shares.products)).sum(1)
        nothing = self.sales.outside * _log(shares.outside)
        return jax.ops.segment_sum(bought + nothing, self.cluster, self.clusters)

    def _of_households(self, demand: ChoiceDemand) -> Float[Array, " cluster"]:
        points, weight = demand.weighted_nodes(self.offers)
        choice = demand.choice(self.offers, points)
        bought = jnp.einsum("mj,mjgi->mgi", self.sales.products, _log(choice.products))
        nothing = self.sales.outside[:, None, None] * _log(choice.outside)
        at_nodes = jax.ops.segment_sum(bought + nothing, self.cluster, self.clusters)
        first = jax.ops.segment_max(
            jnp.arange(len(self.cluster)), self.cluster, self.clusters, indices_are_sorted=False
        )
        return jax.nn.logsumexp(at_nodes + _log(weight[first]), axis=(1, 2))


def clusters_of(markets: Markets) -> Int[np.ndarray, " market"]:
    """The cluster of every market, counted from 0."""
    household = markets.columns.household
    if household is None:
        return np.arange(len(markets.markets))
    _, code = np.unique(markets.marks[household].of_market, return_inverse=True)
    return np.asarray(code)


def saturated(markets: Markets) -> float:
    """The log-likelihood of shares that are just those observed: no model can exceed it."""
    counts = np.c_[markets.count, markets.outside] if markets.has_outside else markets.count
    share = counts / markets.size[:, None]
    return float((counts * np.log(np.where(counts > 0, share, 1.0))).sum())


def _log(share: Array) -> Array:
    """The logarithm, flat where a share has underflowed: second derivatives stay finite too."""
    there = share > SMALLEST_SHARE
    return jnp.where(there, jnp.log(jnp.where(there, share, 1.0)), np.log(SMALLEST_SHARE))
