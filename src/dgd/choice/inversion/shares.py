"""Observed shares: what an inversion must reproduce, refused where no quality could."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.choice.markets import Markets
from dgd.errors import InputError


class ObservedShares(NamedTuple):
    """Parts of all opportunities, as they were counted; 0 where a product was not available."""

    products: Float[Array, "market slot"]
    outside: Float[Array, " market"]

    @staticmethod
    def of(markets: Markets) -> "ObservedShares":
        """Counts over sizes, of markets in which a finite quality explains every share."""
        refuse_without_quality(markets)
        sold = np.where(markets.available, markets.count, 0.0) / markets.size[:, None]
        return ObservedShares(jnp.asarray(sold), jnp.asarray(1.0 - sold.sum(1)))


def refuse_without_quality(markets: Markets) -> None:
    """Refuse `markets` with a share that no finite quality explains."""
    if not markets.counted:
        raise InputError(
            "the markets were made with count=None; quality is found from sales: name the column "
            "of counts or shares."
        )
    if not markets.has_outside:
        raise InputError(
            "the markets were made with outside=False, where shares say only how products compare "
            "and not what each is worth; count those who bought nothing, or use the control "
            "function."
        )
    unsold = np.argwhere(markets.available & (markets.count <= 0))
    if len(unsold):
        market, slot = unsold[0]
        raise InputError(
            f"market {markets.markets[market]!r}: nobody bought product "
            f"{markets.products[markets.product[market, slot]]!r}, and no finite quality explains "
            f"a share of zero ({len(unsold)} such offers in all); leave the row out, or use the "
            "control function."
        )
    sold = np.where(markets.available, markets.count, 0.0).sum(1)
    full = np.flatnonzero(markets.size - sold <= 0)
    if len(full):
        raise InputError(
            f"market {markets.markets[full[0]]!r}: all {markets.size[full[0]]:g} opportunities "
            "ended in a purchase, and no finite quality explains that nobody bought nothing; "
            "raise its market size, or leave the market out."
        )
