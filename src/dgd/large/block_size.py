"""How many units are looked at together, and which of many stand for all."""

import numpy as np
from jaxtyping import Int

from dgd.panel.panel import Panel
from dgd.panel.some_units import standing_for_all
from dgd.processes.group import Group

MOST_AT_ONCE = 60_000_000
"""Days x units x cohorts x patterns up to which all units are looked at together."""
NUMBERS_OF_A_BLOCK = 8_000_000
"""Numbers of a block of units, in the largest of its grids."""
MOST_WALKED = 500_000
"""Cells x origins x steps that are walked for what all units do after several origins; of more,
some units stand for all."""


def is_large(panel: Panel) -> bool:
    """Whether the units of a panel are looked at block by block."""
    days, _, cohorts, patterns = panel.counts.shape
    return days * panel.together.units * cohorts * patterns > MOST_AT_ONCE


def units_at_once(panel: Panel) -> int:
    """Units of one block."""
    _, _, cohorts, patterns = panel.counts.shape
    features = 2 * len(panel.behaviors) + panel.features.shape[-1]
    each = cohorts * max(patterns, len(panel.known_dates) * (features + 1))
    return max(1, NUMBERS_OF_A_BLOCK // each)


def units_walked(
    panel: Panel, origins: Int[np.ndarray, " origin"], steps: int, group: Group
) -> Int[np.ndarray, " some"]:
    """The units that are walked for all of them: all after one origin, else as many as allowed."""
    if len(set(origins.tolist())) == 1:
        return np.arange(len(panel.units))
    most = MOST_WALKED // max(len(origins) * len(panel.cohorts) * steps, 1)
    return standing_for_all(panel, most, group)
