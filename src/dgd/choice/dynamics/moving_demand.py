"""MovingDemand: demand of people whose tastes are moved by what their place has bought before."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from dgd.choice.choice_demand import ChoiceDemand, Shares, summed
from dgd.choice.dynamics.carrying import Moved, advanced, moved_by, paths
from dgd.choice.dynamics.history import MarketHistory
from dgd.choice.dynamics.purchases import Purchases, Usual
from dgd.choice.offers import Offers
from dgd.choice.utility import Choice
from dgd.model.feedback.carried_state import AbstractCarriedState

States = dict[str, Float[Array, "period place ..."]]
"""What places carry at the beginning of every period, by the name of the state."""


class MovingDemand(ChoiceDemand):
    r"""Aggregate demand in which places carry memory, fatigue and shift from period to period.

    .. math:: V_b(u) = x_b^T \big(\beta_C + \tau_{pt} + W_C (u + d_{pt})\big)
        - price_b \, softplus\big(a_C + v_C^T (u + d_{pt})\big) + \ldots

    where tau and d are what the states of place p at the beginning of period t add to tastes and
    to propensity. Tau has one more part that stays, (v_p - v0)' G: places that usually buy
    something may have liked it all along, which is no dynamics. Sales are not counted by cohort,
    so that all cohorts of a place carry the same. Without a history nothing has moved: that is
    demand in usual times.
    """

    carried: tuple[AbstractCarriedState, ...]
    """Memory, fatigue and shift; with none of them places differ, but not over time."""
    place_effect: Float[Array, "attribute attribute"]
    """G. Row: what is usually bought more of than elsewhere; column: the taste it goes with."""
    usual: Usual

    def choice(self, offers: Offers, points: Float[Array, "cohort node dim"]) -> Choice:
        """Probabilities at every point, moved by the past of each market."""
        if offers.history is None:
            return super().choice(offers, points)
        return self._choice_of(offers, points, self.moved(offers))

    def shares_of(self, offers: Offers, moved: Moved) -> Shares:
        """Shares of markets whose people have been `moved`."""
        points, weight = self.weighted_nodes(offers)
        return summed(self._choice_of(offers, points, moved), weight)

    @staticmethod
    def past(offers: Offers) -> MarketHistory:
        """The history of offers that have one."""
        if offers.history is None:
            raise ValueError("these offers have no history")
        return offers.history

    def moved(self, offers: Offers) -> Moved:
        """How far its past has moved the people of every market."""
        history = self.past(offers)
        moved = self.moved_by(self.states(offers), history)
        return moved.at(history.period, history.place)

    def moved_by(self, states: States, history: MarketHistory) -> Moved:
        """How far `states` move the people of each period and place."""
        usual, dim = self.usual.at(history.home), len(self.utility.price_loading)
        periods = max((len(path) for path in states.values()), default=len(history.bought))
        moved = moved_by(self.carried, states, usual, periods, dim)
        stays = jnp.broadcast_to(usual.apart @ self.place_effect, moved.tastes.shape)
        return moved._replace(tastes=moved.tastes + stays)

    def states(self, offers: Offers) -> States:
        """What places carry at the beginning of every period of the offers' history.

        Recorded purchases lead from period to period at once; where the history goes on without
        them, expected ones do, one period after the other.
        """
        history = self.past(offers)
        usual = self.usual.at(history.home)
        counted = Purchases.counted(history, self.scales)
        recorded = len(counted.amount) - 1 - len(history.ahead)
        led: Purchases = jax.tree.map(lambda x: x[:recorded], counted)
        known: States = paths(self.carried, led.signals(usual), usual)
        if not (len(history.ahead) and self.carried):
            return known

        def step(carried: States, today: tuple[Purchases, Array]) -> tuple[States, States]:
            bought, markets = today
            here = jax.tree.map(lambda x: x[None], bought)
            free = self._expected(offers, carried, markets)
            signal = here.where_unknown(free).signals(usual)
            following = advanced(self.carried, carried, signal, usual)
            return following, following

        walked = jax.tree.map(lambda x: x[recorded:-1], counted)
        first = jax.tree.map(lambda x: x[-1:], known)
        _, later = jax.lax.scan(step, first, (walked, history.ahead))
        return jax.tree.map(lambda a, b: jnp.concatenate([a, b[:, 0]]), known, later)

    def purchases(self, offers: Offers, shares: Shares) -> Purchases:
        """What every place and period buys when markets have these `shares`."""
        history = self.past(offers)
        periods, places = history.bought.shape
        attributes = self.scales.scaled(offers).attributes
        cell = history.period * places + history.place
        return Purchases.expected(shares.products, attributes, history.size, cell, periods, places)

    def _expected(self, offers: Offers, carried: States, markets: Array) -> Purchases:
        """What some `markets` of one period buy, as far as they exist."""
        here = offers.at(markets)
        history = self.past(here)
        shares = self.shares_of(
            here, self.moved_by(carried, history).at(jnp.zeros_like(history.place), history.place)
        )
        size = jnp.where(markets >= 0, history.size, 0.0)
        attributes = self.scales.scaled(here).attributes
        places = history.bought.shape[1]
        return Purchases.expected(shares.products, attributes, size, history.place, 1, places)

    def _choice_of(
        self, offers: Offers, points: Float[Array, "cohort node dim"], moved: Moved
    ) -> Choice:
        there = jnp.expand_dims(points, 0) + moved.propensity[:, None, None]
        return self.utility.choice(self.scales.scaled(offers), there, moved.tastes)

    def trainable(self) -> PyTree[bool]:
        fixed = jax.tree.map(lambda _: False, self.usual)
        return eqx.tree_at(lambda m: m.usual, super().trainable(), fixed)
