"""Firms: what those who set prices pay, earn, and would ask if something changed."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.demand import Demand
from dgd.choice.firms.costs import implied_costs, warn_of_negative
from dgd.choice.firms.equilibrium import equilibrium_prices
from dgd.choice.firms.firm_tables import costs_table, refuse_result_names
from dgd.choice.firms.given_costs import Costs, given_costs
from dgd.choice.firms.ownership import Mergers, buyers, merged, owned_by, owners_of
from dgd.choice.firms.repriced import Repriced
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.markets import Markets
from dgd.choice.marks import Marks
from dgd.errors import InputError
from dgd.runtime import computing
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label


@dataclass(frozen=True, eq=False)
class Firms:
    r"""Firms that set the prices of their products, facing the demand of a fit.

    .. math:: \max_{p_j : j \in J_f} \sum_{j \in J_f} (p_j - c_j) \, s_j(p) \quad
        \text{for every firm } f

    where J_f are the firm's products of a market and s the shares averaged over seeds. Prices
    are an equilibrium (Bertrand and Nash's) where no firm gains by moving its own. Costs of a
    product do not depend on how many are sold. Where several prices solve the firms' conditions,
    those that steps from the base prices lead to are found.

    Every method takes `costs`: `{product: cost}`, or a table with the product, `cost` and, where
    costs differ between markets, the market; the table of `costs()` is one. Products that it does
    not name, and all without it, have the costs at which the base prices are an equilibrium.

    Args:
        parameters: one demand per seed.
        fitted: how markets become offers of the fit.
        markets: the base: products, their firms and their prices.
    """

    parameters: tuple[ChoiceDemand, ...]
    fitted: FittedOffers
    markets: Markets

    def __post_init__(self) -> None:
        owners_of(self.markets)
        refuse_result_names(self.markets)

    def costs(self, kind: str | None = None) -> Any:
        """One row per market and product on offer: price, share, and the cost at which the base
        prices are an equilibrium, the markup p - c, and the Lerner index (p - c) / p."""
        cost = self._cost(None)
        table = costs_table(self.demand, self.owners, cost)
        return from_polars(table, kind or self.markets.kind)

    def merger(self, firms: Mergers, costs: Costs | None = None, reaction: bool = True) -> Repriced:
        """Prices after firms have become one.

        Args:
            firms: `{bought: buyer}`, or a list of firms that become one.
            costs: what products cost after the merger; savings are written here.
            reaction: whether all firms set their prices anew; without it only the merged ones
                do, and the prices of all others stay.
        """
        owners = merged(self.owners, firms)
        cost = self._cost(costs)
        return self._repriced(owners, cost, None if reaction else owned_by(owners, buyers(firms)))

    def equilibrium(self, costs: Costs | None = None, firms: Mergers | None = None) -> Repriced:
        """Prices once every firm has set its own anew: the base prices unless costs or owners
        change.

        Args:
            costs: what products cost then.
            firms: who becomes one, as in `merger`.
        """
        owners = self.owners if firms is None else merged(self.owners, firms)
        return self._repriced(owners, self._cost(costs), None)

    def optimal_prices(
        self, firm: Label, costs: Costs | None = None, reaction: bool = False
    ) -> Repriced:
        """The prices that together earn `firm` most over all its products of a market.

        Without `costs` the base prices are taken to be its best ones, so that nothing moves.

        Args:
            firm: who sets prices.
            costs: what products cost; those of other firms matter only if they react.
            reaction: whether all others set their prices anew too; without it theirs stay.
        """
        own = owned_by(self.owners, [firm])
        if not (own & self.markets.available).any():
            raise InputError(f"firm {firm!r} has no product on offer in any market; name another.")
        return self._repriced(self.owners, self._cost(costs), None if reaction else own)

    @cached_property
    def demand(self) -> Demand:
        """Demand at the base prices."""
        return self._demand(self.markets)

    @property
    def owners(self) -> Marks:
        """Who sets which price."""
        return owners_of(self.markets)

    @cached_property
    def _implied(self) -> Float[np.ndarray, "market slot"]:
        return implied_costs(self.demand, self.owners)

    def _cost(self, costs: Costs | None) -> Float[np.ndarray, "market slot"]:
        """Given costs, and implied ones for what is on offer beside them."""
        markets = self.markets
        given = None if costs is None else given_costs(markets, costs)
        cost = np.full(markets.price.shape, np.nan) if given is None else given
        unknown = markets.available & np.isnan(cost)
        if unknown.any():
            cost = np.where(unknown, self._implied, cost)
            warn_of_negative(markets, cost, unknown, stacklevel=3)
        return cost

    def _repriced(
        self,
        owners: Marks,
        cost: Float[np.ndarray, "market slot"],
        moving: Bool[np.ndarray, "market slot"] | None,
    ) -> Repriced:
        """Prices that are best for `owners`, all of them or those `moving`."""
        markets = self.markets
        moving = markets.available if moving is None else moving
        with computing():
            offers = self.fitted.of(markets)
        price = equilibrium_prices(self.parameters, markets, offers, owners, cost, moving)
        columns = replace(markets.columns, count=None)
        unseen = np.zeros_like(markets.count)
        changed = replace(markets, price=price, count=unseen, columns=columns)
        return Repriced(self.demand, self._demand(changed), owners, cost)

    def _demand(self, markets: Markets) -> Demand:
        with computing():
            offers = self.fitted.of(markets)
        return Demand(self.parameters, markets, offers)
