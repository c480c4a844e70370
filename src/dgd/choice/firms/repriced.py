"""Repriced: what firms ask once they have set their prices anew, beside what they asked before."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.choice.comparison import Comparison
from dgd.choice.demand import Demand
from dgd.choice.firms.firm_tables import prices_table, profits_table
from dgd.choice.markets import Markets
from dgd.choice.marks import Marks
from dgd.tables.frames import from_polars
from dgd.tables.html import html_summary


@dataclass(frozen=True, eq=False, repr=False)
class Repriced:
    """The same markets at two sets of prices.

    Args:
        base: demand at the prices that were asked.
        changed: demand at the new ones; its markets have no sales, for nobody has seen them.
        owners: who sets the new prices.
        cost: what a sold product costs, the same before and after.
    """

    base: Demand
    changed: Demand
    owners: Marks
    cost: Float[np.ndarray, "market slot"]

    @property
    def markets(self) -> Markets:
        """The markets at the new prices; their column of firms is as it was."""
        return self.changed.markets

    def prices(self, kind: str | None = None) -> Any:
        """One row per market and product on offer: the firm that sets the new price, cost, base
        price, new price, and the difference in percent."""
        return self._shown(self._prices(), kind)

    def profits(self, kind: str | None = None) -> Any:
        """One row per firm, over all markets: what it earns at the base prices and at the changed
        ones; firms that become one are one in both."""
        return self._shown(self._profits(), kind)

    def comparison(self) -> Comparison:
        """Shares, revenue and consumer surplus at both sets of prices."""
        return Comparison(self.base, self.changed)

    def payload(self) -> dict[str, Any]:
        """Both tables as plain values."""
        return {"prices": self._prices().to_dicts(), "profits": self._profits().to_dicts()}

    def __repr__(self) -> str:
        moved = self._prices()["difference percent"]
        mean = moved.mean()
        said = f", prices {mean:+.2f} percent in the mean" if isinstance(mean, float) else ""
        return f"Repriced({len(self.markets.markets)} markets, {len(moved)} offers{said})"

    def _repr_html_(self) -> str:
        tables = {"Profits": self._profits(), "Prices": self._prices()}
        return html_summary(repr(self), (), tables)

    def _prices(self) -> pl.DataFrame:
        return prices_table(self.base.markets, self.markets, self.owners, self.cost)

    def _profits(self) -> pl.DataFrame:
        return profits_table(self.base, self.changed, self.owners, self.cost)

    def _shown(self, table: pl.DataFrame, kind: str | None) -> Any:
        return from_polars(table, kind or self.base.markets.kind)
