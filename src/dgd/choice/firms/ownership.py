"""Who sets which price, before and after firms become one."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from dgd.choice.markets import Markets
from dgd.choice.marks import Marks
from dgd.errors import InputError, few
from dgd.tables import refusing
from dgd.tables.labels import Label

Mergers = Mapping[Label, Label] | Sequence[Label]
"""`{bought: buyer}`, or firms that become one, under the name of the first."""


def owners_of(markets: Markets) -> Marks:
    """Who sets the price of every offer."""
    firm = markets.columns.firm
    if firm is None:
        raise InputError(
            "the markets do not say whose products are whose; name the column of who sets the "
            "price: Markets.from_table(..., firm=...)."
        )
    return markets.marks[firm]


def ownership(
    owners: Marks, available: Bool[np.ndarray, "market slot"]
) -> Float[np.ndarray, "market slot slot"]:
    """O: 1 where both products are on offer and one firm sets both prices, else 0."""
    code = np.where(available, owners.code, -1)
    both = available[:, :, None] & available[:, None, :]
    return np.asarray(both & (code[:, :, None] == code[:, None, :]), float)


def merged(owners: Marks, firms: Mergers) -> Marks:
    """The owners after `firms` have become one; a firm that was bought has no offers left."""
    bought = _buyers(firms)
    _refuse_unknown(owners, [*bought, *bought.values()])
    place = {label: at for at, label in enumerate(owners.labels)}
    goes_to = np.array([place[_last_buyer(label, bought)] for label in owners.labels])
    return Marks(np.where(owners.code >= 0, goes_to[owners.code], -1), owners.labels)


def owned_by(owners: Marks, firms: Sequence[Label]) -> Bool[np.ndarray, "market slot"]:
    """Where the offer is one of `firms`'."""
    _refuse_unknown(owners, firms)
    return np.isin(owners.code, [owners.labels.index(firm) for firm in firms])


def buyers(firms: Mergers) -> list[Label]:
    """Who sets the prices of all merged products afterwards."""
    bought = _buyers(firms)
    return list(dict.fromkeys(_last_buyer(label, bought) for label in bought))


def refuse_sole_sellers(
    markets: Markets, owners: Marks, where: Bool[np.ndarray, " market"] | None = None
) -> None:
    """Refuse a market in which one firm has all offers and everyone must take one of them."""
    if markets.has_outside:
        return
    code: Int[np.ndarray, "market slot"] = np.where(markets.available, owners.code, -1)
    alone = ((code == code.max(1, keepdims=True)) | ~markets.available).all(1)
    alone = alone if where is None else alone & where
    if alone.any():
        first = int(np.argmax(alone))
        raise InputError(
            f"in market {markets.markets[first]} firm {owners.labels[code[first].max()]} sets "
            "every price and nobody can buy nothing, so that no price is too high; give the "
            "markets an outside option, or leave this one out with markets.select."
        )


def _buyers(firms: Mergers) -> dict[Label, Label]:
    """Who buys each firm that is bought."""
    if isinstance(firms, Mapping):
        bought = dict(firms)
    else:
        refusing.refuse_text(firms, "firms")
        refusing.refuse_repeated(firms, "firms")
        bought = dict.fromkeys(firms[1:], firms[0])
    if not bought:
        raise InputError('firms names no two firms; say who buys whom, as in {"bought": "buyer"}.')
    return bought


def _last_buyer(firm: Label, bought: Mapping[Label, Label]) -> Label:
    """Whose a firm is once all is bought: a buyer may be bought itself."""
    seen = [firm]
    while seen[-1] in bought:
        buyer = bought[seen[-1]]
        if buyer in seen:
            raise InputError(
                f"firms has {buyer!r} bought by itself, directly or through others; name one "
                "firm that buys."
            )
        seen.append(buyer)
    return seen[-1]


def _refuse_unknown(owners: Marks, firms: Sequence[Label]) -> None:
    unknown = [firm for firm in dict.fromkeys(firms) if firm not in owners.labels]
    if unknown:
        raise InputError(
            f"{few([repr(firm) for firm in unknown])} is no firm of the markets, which have "
            f"{few([repr(label) for label in owners.labels])}; correct the label."
        )
