"""What market counts can and cannot tell, said before training begins."""

import warnings

import numpy as np
from scipy.linalg import lstsq, qr

from dgd.choice.fit import ChoiceFit
from dgd.choice.instruments.first_stage import WEAK
from dgd.choice.markets import Markets
from dgd.choice.offer_table import CONSTANT
from dgd.choice.settings import INVERTED, LIKELIHOOD, STATIC, UNSEEN, ChoiceSettings
from dgd.errors import InputError
from dgd.learning.runs import UNCONVERGED

RANK = 1e-9
"""What others leave of a column, relative to its size, before it counts as its own."""
ODD = 10.0
"""A price is odd where it is so many times its product's median, or so small a part of it."""


def refuse_unlearnable(training: Markets) -> None:
    """Refuse what no amount of counts from `training` could teach."""
    if not training.counted:
        raise InputError(
            "the markets were made with count=None; training needs counts: name their column."
        )
    if training.sales.sum() == 0:
        raise InputError("nothing was sold in any training market; add markets with sales.")
    if training.has_outside and training.outside.sum() == 0:
        raise InputError(
            "everyone bought something in every training market; the value of buying at all "
            "cannot be learned: add markets, count those who bought nothing, or say outside=False."
        )
    known = training.attributes[training.available]
    for index, name in enumerate(training.attribute_names):
        values = known[:, index]
        if name != CONSTANT and np.ptp(values) == 0:
            raise InputError(
                f'attribute "{name}" is {values[0]:g} for every available product of every '
                "training market, so its effect cannot be told from the value of buying at all; "
                "leave it out and let dgd add its constant."
            )
    low, high = training.price_range
    if low == high:
        raise InputError(
            f"{training.columns.price} is {low:g} for every available product of every training "
            "market, so price sensitivity cannot be learned; add markets with other prices."
        )


def refuse_unheard(settings: ChoiceSettings, markets: Markets) -> None:
    """Refuse columns that the way of fitting would not look at: what was handed over counts."""
    by_likelihood = settings.method == LIKELIHOOD and settings.dynamics == STATIC
    way = f'method="{LIKELIHOOD}" and dynamics="{STATIC}"'
    if markets.columns.instruments and settings.quality != UNSEEN and not by_likelihood:
        raise InputError(
            f"instruments are looked at with {way} only; fit so, or say "
            f'quality="{UNSEEN}" to take prices as given.'
        )
    if markets.columns.household is not None and not (
        by_likelihood and settings.quality != INVERTED
    ):
        raise InputError(
            f"households are looked at with {way} and without inverted quality only; fit so, or "
            "make the markets without household."
        )


def warn_of_ambiguity(markets: Markets) -> None:
    """Warn where predictions may be sound but single effects are not, and of odd prices."""
    names = unlearnable_columns(markets)
    if names:
        warnings.warn(f"{unlearnable_words(names)}.", UserWarning, stacklevel=3)
    odd = odd_prices(markets)
    if len(odd):
        warnings.warn(f"{odd_price_words(markets, odd)}.", UserWarning, stacklevel=3)


def unlearnable_columns(markets: Markets) -> list[str]:
    """Attributes, the price among them, that others and absorbed labels explain exactly.

    Where nobody can buy nothing, what all products of a market share explains nothing.
    """
    at = markets.available
    columns = np.concatenate([markets.attributes, np.where(at, markets.price, 0.0)[..., None]], -1)
    names = [*markets.attribute_names, markets.columns.price]
    marked = _absorbed(markets)
    if not markets.has_outside:
        columns, marked = (_within_markets(part, at) for part in (columns, marked))
    known, labels = columns[at], marked[at]
    if labels.shape[1]:
        known = known - labels @ lstsq(labels, known, cond=RANK)[0]
    size = np.maximum(np.abs(columns[at]).max(0), np.finfo(float).tiny)
    _, triangle, order = qr(known / size, mode="economic", pivoting=True)
    left = np.abs(np.diag(triangle))
    rank = int((left > RANK * np.sqrt(at.sum())).sum())
    return sorted(names[index] for index in order[rank:])


def unlearnable_words(names: list[str]) -> str:
    """What follows from columns that others explain, without a point."""
    what = f"column {names[0]} follows" if len(names) == 1 else f"columns {', '.join(names)} follow"
    return (
        f"{what} from the others in these markets; shares can be learned, but how the effect "
        "divides between them cannot: leave out what follows"
    )


def _absorbed(markets: Markets) -> np.ndarray:
    """0/1 columns of every absorbed label but the first of each column."""
    marks = [markets.marks[name] for name in markets.columns.absorb]
    parts = [marks.code[..., None] == np.arange(1, len(marks.labels)) for marks in marks]
    empty = np.zeros((*markets.price.shape, 0))
    return np.concatenate([empty, *parts], -1)


def _within_markets(columns: np.ndarray, at: np.ndarray) -> np.ndarray:
    weight = at[..., None] / at.sum(1)[:, None, None]
    return np.asarray(columns - (columns * weight).sum(1, keepdims=True))


def odd_prices(markets: Markets) -> np.ndarray:
    """Where, market and slot, a price is so far from its product's others that it may be wrong."""
    found: list[list[int]] = []
    for product in range(len(markets.products)):
        own = np.argwhere((markets.product == product) & markets.available)
        prices = markets.price[own[:, 0], own[:, 1]]
        if len(prices) < 3 or not (prices > 0).any():
            continue
        usual = np.median(prices)
        far = (prices > ODD * usual) | (prices < usual / ODD)
        found += own[far & (prices > 0)].tolist() if usual > 0 else []
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def odd_price_words(markets: Markets, odd: np.ndarray) -> str:
    """The first of the odd prices in a sentence without its point."""
    market, slot = odd[0]
    product = markets.product[market, slot]
    own = (markets.product == product) & markets.available
    more = f" (and {len(odd) - 1} more)" if len(odd) > 1 else ""
    return (
        f"price {markets.price[market, slot]:g} of product {markets.products[product]} in market "
        f"{markets.markets[market]}{more} is far from its usual "
        f"{np.median(markets.price[own]):g}; one wrong price can decide the price effect: correct "
        "or leave it out"
    )


def warn_of_estimate(fit: ChoiceFit) -> None:
    """Say what an estimate cannot be trusted for; to be called by `fit` itself."""
    for words in doubts(fit):
        warnings.warn(words, UserWarning, stacklevel=3)


def doubts(fit: ChoiceFit) -> list[str]:
    """Sentences about a search that did not converge, starts that disagree, demand that does not
    fall with price, and instruments that hardly move prices."""
    record = fit.record
    said: list[str] = []
    if record is None:
        return said
    if fit.runs[0].reason == UNCONVERGED:
        said.append(
            f"the search did not converge: the largest slope is {record.slope:.1e}, the tolerance "
            f"{record.tolerance:.0e}; raise epochs or lower components or dim."
        )
    if not record.agree and not fit.alike:
        said.append(
            "starts that are as likely as the best disagree on substitution; summary() lists them: "
            "elasticities and diversion are not settled by these counts; add markets or lower "
            "components or dim."
        )
    price = fit.markets.columns.price
    if record.sensitivity <= 0:
        said.append(
            f"demand slopes upward in these markets: where all are alike one more unit of {price} "
            f"adds {-record.sensitivity:.3g} to utility (standard error "
            f"{record.sensitivity_error:.2g}); dearer offers are probably the better ones: give "
            "instruments=[...], absorb=[...] or attributes that say what makes them better."
        )
    if record.first_stage_f is not None and not record.first_stage_f >= WEAK:
        names = ", ".join(fit.markets.columns.instruments)
        said.append(
            f"instruments {names} hardly move {price} (F is {record.first_stage_f:.1f}, below "
            f"{WEAK:g}); the price effect leans to what it is without them: find stronger ones."
        )
    return said
