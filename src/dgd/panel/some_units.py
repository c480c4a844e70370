"""Some units of a panel as a panel of their own, which knows what all units counted."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from dgd.panel.panel import Panel
from dgd.processes.group import ALONE, Group
from dgd.tables.hashing import hash_bucket

HASHES = 1 << 64
"""All that there are."""


def panel_of_units(panel: Panel, units: Int[np.ndarray, " some"]) -> Panel:
    """The units of these numbers, in the order named."""
    return replace(
        panel,
        counts=panel.counts.of_units(units),
        size=panel.size[:, units],
        effort=panel.effort[:, units],
        features=panel.features[:, units],
        units=tuple(panel.units[number] for number in units),
        events=None if panel.events is None else panel.events.of_units(units),
        everyone=panel.together,
        since=None if panel.since is None else panel.since[units],
    )


def blocks_of_units(units: int, most: int) -> Iterator[Int[np.ndarray, " some"]]:
    """The numbers of all units, at most so many at a time, blocks of nearly equal length."""
    if units:
        yield from np.array_split(np.arange(units), -(-units // most))


def standing_for_all(panel: Panel, most: int, group: Group = ALONE) -> Int[np.ndarray, " some"]:
    """The numbers of those of the units at hand that are among at most so many of all units.

    Chosen are the units whose labels have the smallest hashes, so that it is the same units
    however they are spread over processes.
    """
    if panel.together.units <= most:
        return np.arange(len(panel.units))
    most = max(1, most)
    hashes = np.array([hash_bucket(unit, HASHES) for unit in panel.units], np.uint64)
    smallest = np.sort(np.concatenate(group.every(np.sort(hashes)[:most])))[:most]
    return np.flatnonzero(hashes <= smallest[-1])
