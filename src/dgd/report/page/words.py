"""Numbers and dates in the sentences of a report."""

from datetime import datetime

import numpy as np

from dgd.tables.periods import Period


def counted(value: float) -> str:
    """A count: whole where it is large, one decimal where it is small."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.1f}"


def percent(share: float) -> str:
    """A share in per cent, with a decimal where it is small."""
    value = 100 * share
    return f"{value:.0f} %" if abs(value) >= 10 else f"{value:.1f} %"


def more_or_fewer(after: float, before: float) -> str:
    """How much `after` is above or below `before`."""
    change = after / before - 1
    if abs(change) < 0.005:
        return "as many as"
    return f"{percent(abs(change))} {'more' if change > 0 else 'fewer'} than"


def day(moment: np.datetime64, period: Period) -> str:
    """A date with its year, and its hour where hours are counted."""
    at: datetime = moment.astype("datetime64[s]").item()
    hour = f" {at:%H}:00" if period.name == "hour" else ""
    return f"{at.day} {at:%b %Y}{hour}"
