"""Which clusters are held out, and in which turn."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from dgd.choice.estimation.evidence import clusters_of
from dgd.choice.markets import Markets
from dgd.errors import InputError
from dgd.tables import refusing
from dgd.tables.labels import Label


def held_out_folds(
    markets: Markets, validation: Sequence[Label] | float
) -> list[Bool[np.ndarray, " cluster"]]:
    """True for the clusters that a fold holds out.

    A fraction holds every cluster out once, so many neighbours at a time: years, or quarters of a
    city, that follow each other in the table are alike in what no column holds, and would give
    away what is held out beside them. Labels name markets, which are held out together.
    """
    refusing.refuse_text(validation, "validation")
    cluster = clusters_of(markets)
    many = int(cluster.max()) + 1
    if isinstance(validation, (int, float)):
        return _turns(many, float(validation))
    named = list(dict.fromkeys(validation))
    markets.select(named)
    at = [markets.markets.index(label) for label in named]
    fold = np.zeros(many, bool)
    fold[cluster[at]] = True
    if fold.all():
        raise InputError("validation names every market; leave some to train on.")
    return [fold]


def _turns(many: int, fraction: float) -> list[Bool[np.ndarray, " cluster"]]:
    refuse_no_fraction(fraction)
    if many < 2:
        raise InputError("validation is a fraction of a single market; give at least two markets.")
    turns = min(max(2, round(1 / fraction)), many)
    turn = np.arange(many) * turns // many
    return [turn == number for number in range(turns)]


def refuse_no_fraction(fraction: float) -> None:
    if not 0 < fraction < 1:
        raise InputError(f"validation is {fraction:g}; a fraction lies between 0 and 1.")
