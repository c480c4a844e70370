"""Purchases as signals: what was bought, counted or expected, as the carried states see it."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dgd.choice.dynamics.history import MarketHistory
from dgd.choice.scales import Scales
from dgd.model.feedback.signals import Signals
from dgd.model.reference import Reference


class Usual(NamedTuple):
    """What a place buys in a usual period; measured before training, and fixed.

    Rows are the places of the fit, and one more: the mean of all places, which stands for any
    other place.
    """

    rates: Float[Array, "place attribute"]
    """The mean of the rates over the training periods of the place."""
    dose: Float[Array, " place"]

    @staticmethod
    def blank(places: int, attributes: int) -> "Usual":
        """Numbers of the right shapes, for a file to fill."""
        return Usual(jnp.zeros((places + 1, attributes)), jnp.zeros(places + 1))

    @staticmethod
    def of(history: MarketHistory, scales: Scales, places: int) -> "Usual":
        """Means over recorded periods; a place without any is taken as the mean of the others."""
        bought = Purchases.counted(history, scales)
        rates, dose = bought.signals(Usual.blank(len(history.home), len(scales.center)))
        rows = Usual.blank(places, len(scales.center))
        periods = rows.dose.at[history.home].add((bought.opportunities > 0).sum(0))
        number = jnp.maximum(periods, 1.0)
        rates = rows.rates.at[history.home].add(rates.sum(0)) / number[:, None]
        dose = rows.dose.at[history.home].add(dose.sum(0)) / number
        seen = periods > 0
        among = jnp.maximum(seen.sum(), 1)
        return Usual(
            jnp.where(seen[:, None], rates, rates.sum(0, keepdims=True) / among),
            jnp.where(seen, dose, dose.sum(keepdims=True) / among),
        )

    def at(self, home: Int[Array, " place"]) -> "Usual":
        """That of the places of a history, and of all places."""
        rows = jnp.concatenate([home, jnp.full(1, len(self.dose) - 1)])
        return Usual(self.rates[rows], self.dose[rows])

    @property
    def own(self) -> Signals:
        """A usual period of every place."""
        return Signals(self.rates[None, :-1], self.dose[None, :-1])

    @property
    def common(self) -> Signals:
        """A period that is usual in the mean of all places."""
        places = len(self.dose) - 1
        rates = jnp.broadcast_to(self.rates[-1], (1, places, self.rates.shape[1]))
        return Signals(rates, jnp.broadcast_to(self.dose[-1], (1, places)))

    @property
    def apart(self) -> Float[Array, "place attribute"]:
        """v_p - v0: what each place usually buys more of than all places do."""
        return self.own.rates[0] - self.common.rates[0]

    @property
    def reference(self) -> Reference:
        """As the carried states of the core read it, a place in the part of a cohort: v0 is what
        all places buy, so that places which differ by chance alone are not told apart."""
        rates = self.common.rates[0]
        return Reference(jnp.zeros((1, len(rates))), rates, jnp.ones(len(rates)))


class Purchases(NamedTuple):
    """Attributes and products bought, and by how many, in every place and period."""

    content: Float[Array, "period place attribute"]
    """On the scales that tastes are learned on."""
    amount: Float[Array, "period place"]
    opportunities: Float[Array, "period place"]

    @staticmethod
    def counted(history: MarketHistory, scales: Scales) -> "Purchases":
        """What was recorded."""
        center, spread = (jnp.expand_dims(x, (0, 1)) for x in (scales.center, scales.spread))
        content = (history.content - history.bought[..., None] * center) / spread
        return Purchases(content, history.bought, history.opportunities)

    @staticmethod
    def expected(
        shares: Float[Array, "market slot"],
        attributes: Float[Array, "market slot attribute"],
        size: Float[Array, " market"],
        cell: Int[Array, " market"],
        periods: int,
        places: int,
    ) -> "Purchases":
        """What markets of some `size` buy by their `shares`, the market's cell being its place
        among periods times places; `attributes` are scaled."""
        count = shares * size[:, None]

        def summed(of_market: Array) -> Array:
            total = jax.ops.segment_sum(of_market, cell, periods * places)
            return total.reshape(periods, places, *of_market.shape[1:])

        content = jnp.einsum("mj,mja->ma", count, attributes)
        return Purchases(summed(content), summed(count.sum(1)), summed(size))

    def signals(self, usual: Usual) -> Signals:
        r"""Rates and dose per opportunity; as usual where there was no opportunity.

        .. math:: v = \frac{\sum_j C_j x_j}{N}, \qquad o = \frac{\sum_j C_j}{N}
        """
        open_to = self.opportunities > 0
        size = jnp.where(open_to, self.opportunities, 1.0)
        rates, dose = self.content / size[..., None], self.amount / size
        return Signals(
            jnp.where(open_to[..., None], rates, usual.own.rates),
            jnp.where(open_to, dose, usual.own.dose),
        )

    def where_unknown(self, other: "Purchases") -> "Purchases":
        """These, and the `other` ones where these know of no opportunity."""
        known = self.opportunities > 0
        return Purchases(
            jnp.where(known[..., None], self.content, other.content),
            jnp.where(known, self.amount, other.amount),
            jnp.where(known, self.opportunities, other.opportunities),
        )
