"""Some units of a panel of many, those of other processes among them, as one small panel."""

from dataclasses import replace

import numpy as np

from dgd.panel.panel import Panel
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.some_units import panel_of_units
from dgd.processes.group import Group


def evenly_spread(panel: Panel, most: int, group: Group) -> Panel:
    """Evenly spread units, about so many in all; every process gets the same."""
    apart = -(-panel.together.units // most)
    some = panel_of_units(panel, np.arange(0, len(panel.units), apart))
    if group.count == 1:
        return some
    found = group.every([len(some.units)])
    before = np.cumsum([0, *(each[0] for each in found)])
    counts = some.counts
    rows = (counts.day, counts.unit + before[group.index], counts.cohort, counts.pattern)
    parts = [np.concatenate(group.every(np.asarray(x))) for x in (*rows, counts.count)]
    shape = (counts.shape[0], int(before[-1]), *counts.shape[2:])

    def together(x: np.ndarray) -> np.ndarray:
        return np.concatenate(group.every(np.ascontiguousarray(x)), 1)

    return replace(
        some,
        counts=PatternCounts.of_rows(shape, *parts),
        size=together(some.size),
        effort=together(some.effort),
        features=together(some.features),
        units=tuple(range(int(before[-1]))),
    )
