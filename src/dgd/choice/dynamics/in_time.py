"""Markets divided in time: those to train on, and later ones to stop and to judge by."""

from collections.abc import Sequence

import numpy as np

from dgd.choice.dynamics.when_and_where import PlaceAndPeriod, ordered_periods
from dgd.choice.markets import Markets
from dgd.errors import InputError
from dgd.tables import refusing
from dgd.tables.labels import Label

LEAST_PERIODS = 3
"""Two to learn from, what one leads to in the other, and one to stop by."""


def divided_in_time(
    markets: Markets, validation: Sequence[Label] | float
) -> tuple[Markets, Markets]:
    """The markets of the first periods and those of the last.

    Args:
        markets: all of them.
        validation: the fraction of the periods to hold out, the last ones; or the labels of all
            markets of the last periods. Markets in the midst of time cannot be held out: what
            was bought there leads to what is trained on.
    """
    when = PlaceAndPeriod.of(markets)
    steps = ordered_periods([when])
    if len(steps) < LEAST_PERIODS:
        raise InputError(
            f"the markets have {len(steps)} periods; dynamics need at least {LEAST_PERIODS}."
        )
    step = np.array([steps[label] for label in when.periods])
    refusing.refuse_text(validation, "validation")
    if isinstance(validation, (int, float)):
        first = _first_held_out(float(validation), len(steps))
    else:
        first = _first_named(markets, step, validation)
    parts = [
        [markets.markets[m] for m in np.flatnonzero(late)] for late in (step < first, step >= first)
    ]
    return markets.select(parts[0]), markets.select(parts[1])


def _first_held_out(fraction: float, periods: int) -> int:
    """The step from which on periods are held out."""
    if not 0 < fraction < 1:
        raise InputError(f"validation is {fraction:g}; a fraction lies between 0 and 1.")
    return periods - min(max(1, round(fraction * periods)), periods - LEAST_PERIODS + 1)


def _first_named(markets: Markets, step: np.ndarray, named: Sequence[Label]) -> int:
    """The same where markets were named: the earliest of them, if they are all from there on."""
    held_out = set(markets.select(list(dict.fromkeys(named))).markets)
    at = np.array([label in held_out for label in markets.markets])
    first = int(step[at].min())
    later = [markets.markets[m] for m in np.flatnonzero(~at & (step >= first))]
    if later:
        raise InputError(
            f"validation leaves out market {later[0]!r}, which is not earlier than all markets it "
            "names; name every market of the last periods, or give their fraction."
        )
    if first < LEAST_PERIODS - 1:
        raise InputError(
            f"validation leaves {first} periods to train on; leave at least {LEAST_PERIODS - 1}."
        )
    return first
