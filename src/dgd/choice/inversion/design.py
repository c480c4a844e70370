"""The rows of the linear part: what explains quality, what moves price, and what is absorbed."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from dgd.choice.inversion import differentiation
from dgd.choice.inversion.absorbing import Absorbed
from dgd.choice.inversion.moments import first_stage_f
from dgd.choice.inversion.two_stage import DEPENDENT, Instrumented, independent
from dgd.choice.markets import Markets
from dgd.choice.scales import Scales
from dgd.errors import InputError

MARKETS_A_MOMENT = 5
"""Moments that are not needed are added only where there are so many markets for each."""


@dataclass(frozen=True, eq=False)
class Design:
    """Attributes, prices and instruments of the available offers, one row each."""

    markets: Markets
    absorbed: Absorbed
    attributes: Float[np.ndarray, "row attribute"]
    """On the scales that are learned on, the constant included."""
    price: Float[np.ndarray, " row"]
    """On its scale."""
    kept: Bool[np.ndarray, " attribute"]
    """The attributes that follow neither from others nor from absorbed labels."""
    exogenous: Float[np.ndarray, "row coefficient"]
    """Those attributes with absorbed effects taken out."""
    excluded: Float[np.ndarray, "row instrument"]
    """The instruments of the table with absorbed effects taken out."""

    @staticmethod
    def of(markets: Markets, scales: Scales) -> "Design":
        """Of markets with instruments; refused where nothing moves price alone."""
        _refuse_without_instruments(markets)
        rows = markets.available
        center, spread, unit = (np.asarray(part) for part in scales)
        attributes = (markets.attributes[rows] - center) / spread
        absorbed = Absorbed.of(markets)
        within = _within(absorbed, attributes)
        kept = independent(within)
        excluded = _within(absorbed, markets.instruments[rows])
        design = Design(
            markets,
            absorbed,
            attributes,
            markets.price[rows] / unit,
            kept,
            within[:, kept],
            excluded,
        )
        design._refuse_idle()
        return design

    @property
    def cluster(self) -> Int[np.ndarray, " row"]:
        """The market of every row."""
        return np.nonzero(self.markets.available)[0]

    @property
    def within_price(self) -> Float[np.ndarray, " row"]:
        return _within(self.absorbed, self.price[:, None])[:, 0]

    @property
    def first_stage(self) -> float:
        """The clustered F of the table's own instruments."""
        own = self._own(self.excluded)
        return first_stage_f(self.within_price, self.exogenous, own, self.cluster)

    def instrumented(self, linear_price: bool, loadings: int) -> Instrumented:
        """The linear problem, with instruments enough for price and so many free loadings.

        Where the table has too few, differences from rivals are added: how many rivals there are,
        how far off they are in each attribute and in predicted price, and in two of them at once
        where this is still too few or there are markets enough for so many moments.
        """
        excluded = self._enough(loadings + 1)
        price = -self.within_price[:, None]
        regressors = np.c_[self.exogenous, price] if linear_price else self.exogenous
        return Instrumented.of(regressors, np.c_[self.exogenous, excluded], self.cluster)

    def grid(self, rows: Float[np.ndarray, " row"]) -> Float[np.ndarray, "market slot"]:
        """Rows back in their markets; 0 where nothing was available."""
        spread = np.zeros(self.markets.available.shape)
        spread[self.markets.available] = rows
        return spread

    def _enough(self, needed: int) -> Float[np.ndarray, "row instrument"]:
        excluded = self._own(self.excluded)
        if excluded.shape[1] >= needed:
            return excluded
        available, known = self.markets.available, self._predicted()
        single = [differentiation.rivals(available), differentiation.squares(known, available)]
        excluded = self._with_more(excluded, np.concatenate(single, -1))
        paired = self._with_more(excluded, differentiation.products(known, available))
        moments = self.exogenous.shape[1] + paired.shape[1]
        if excluded.shape[1] < needed or MARKETS_A_MOMENT * moments <= len(available):
            excluded = paired
        if excluded.shape[1] < needed:
            raise InputError(
                f"{needed} numbers say how price and tastes differ, and with differences between "
                f"rivals there are {excluded.shape[1]} independent instruments; name more "
                "instruments, lower dim, or let everyone be alike."
            )
        return excluded

    def _with_more(
        self, excluded: np.ndarray, more: Float[np.ndarray, "market slot more"]
    ) -> Float[np.ndarray, "row instrument"]:
        return self._own(np.c_[excluded, _within(self.absorbed, more[self.markets.available])])

    def _own(self, columns: np.ndarray) -> Float[np.ndarray, "row instrument"]:
        """The columns that follow neither from attributes nor from those before them."""
        known = self.exogenous.shape[1]
        return columns[:, independent(np.c_[self.exogenous, columns])[known:]]

    def _predicted(self) -> Float[np.ndarray, "market slot attribute"]:
        """Attributes that differ at all, and the price that they and the instruments predict."""
        basis = np.linalg.qr(np.c_[self.exogenous, self._own(self.excluded)])[0]
        within = self.within_price
        predicted = self.price - (within - basis @ (basis.T @ within))
        differing = self.attributes[:, np.ptp(self.attributes, axis=0) > 0]
        return np.stack([self.grid(column) for column in np.c_[differing, predicted].T], -1)

    def _refuse_idle(self) -> None:
        columns = self.markets.columns
        if not self._own(self.excluded).shape[1]:
            raise InputError(
                f"the instruments {', '.join(columns.instruments)} follow from the attributes and "
                "absorbed labels, so that nothing moves price alone; name an instrument that "
                "varies beside them."
            )
        price = np.c_[self.exogenous, _within(self.absorbed, self.price[:, None])]
        if not independent(price)[-1]:
            raise InputError(
                f"{columns.price} follows from the attributes and absorbed labels, so that its "
                "effect cannot be told from theirs; absorb less, or add markets with other prices."
            )


def _within(absorbed: Absorbed, columns: np.ndarray) -> np.ndarray:
    """Columns without absorbed effects; exactly zero where nothing but rounding is left."""
    rest = absorbed.rest(columns)
    own = np.sqrt((rest**2).sum(0)) > DEPENDENT * np.sqrt((columns**2).sum(0))
    return np.where(own, rest, 0.0)


def _refuse_without_instruments(markets: Markets) -> None:
    columns = markets.columns
    if not columns.instruments:
        raise InputError(
            "the markets have no instruments, and without them price cannot be told from quality; "
            "name columns that move prices and nothing else, such as costs."
        )
    if columns.absorb and not markets.has_constant:
        raise InputError(
            f"{columns.absorb[0]} is absorbed and the markets were made with constant=False; the "
            "first label is held at the constant: make them with constant=True."
        )
