"""Which place in its cycle a day has: what comes back every week, or an hour every day."""

import numpy as np
from jaxtyping import Int

from dgd.panel.panel import Panel

FULL_CYCLES = 3
"""Cycles that must be known before their rhythm is used."""
CYCLES = {"day": 7, "hour": 24, "week": 1}


def cycle_length(panel: Panel, known: int) -> int:
    """Places in the cycle of a panel of which `known` days are counted; 1 without a rhythm."""
    length = CYCLES[panel.period.name]
    return length if known >= FULL_CYCLES * length else 1


def places(panel: Panel, days: Int[np.ndarray, "*day"], length: int) -> Int[np.ndarray, "*day"]:
    """The place of each day number, past the panel's end included, in a cycle of `length`."""
    if length == 1:
        return np.zeros_like(days)
    first = panel.dates[0].astype(f"datetime64[{panel.period.unit}]").astype(np.int64)
    return np.asarray((int(first) + days) % length)
