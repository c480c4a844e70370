"""Units of one panel spread over processes: each has its own, and knows what all counted."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Int

from dgd.errors import InputError
from dgd.panel.everyone import Everyone
from dgd.panel.panel import Panel
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.some_units import panel_of_units
from dgd.processes.group import Group
from dgd.tables.labels import Label


def known_to_all(panel: Panel, group: Group) -> Panel:
    """The panel of a process's own units, with the sums of all processes' units.

    Raises:
        InputError: The panels are not parts of one: dates, cohorts, behaviours or special days
            differ, or a process has no units.
    """
    if group.count == 1 or not isinstance(panel, Panel):
        return panel
    facts = {
        "dates": [str(panel.dates[0]), panel.days, len(panel.known_dates)],
        "cohorts": list(panel.cohorts),
        "behaviors": list(panel.behaviors),
        "feature_names": list(panel.feature_names),
        "sizes or effort": [panel.sized, panel.has_effort],
        "period": panel.period.name,
        "special days": panel.special_days.stored(),
    }
    every = group.every([facts, len(panel.units)])
    for number, (others, _) in enumerate(every):
        different = [name for name, value in every[0][0].items() if others[name] != value]
        if different:
            raise InputError(
                f"{different[0]} of process {number} are {others[different[0]]}, those of process "
                f"0 {every[0][0][different[0]]}; hand over shards of one data set."
            )
    counted = group.sum(panel.counts.of_cohorts())
    return replace(panel, everyone=Everyone(counted, sum(units for _, units in every)))


@dataclass(frozen=True, eq=False)
class BroughtTogether:
    """Some units of every process, few enough that each can hold them all."""

    group: Group
    panel: Panel
    """Those of this process."""

    @staticmethod
    def of(panel: Panel, units: Int[np.ndarray, " some"], group: Group) -> "BroughtTogether":
        """The units of these numbers, and what other processes name."""
        return BroughtTogether(group, panel_of_units(panel, units))

    @cached_property
    def whole(self) -> Panel:
        """All of them as one panel, in the order of their labels; the same at every process."""
        if self.group.count == 1:
            return self.panel
        every, counts = self.group.every, self.panel.counts
        before = np.cumsum([0, *(len(labels) for labels in self._labels)])
        place = np.argsort(self._order)
        unit = place[counts.unit + before[self.group.index]]
        own = (counts.day, unit, counts.cohort, counts.pattern, counts.count)
        rows = [np.concatenate(every(np.ascontiguousarray(x))) for x in own]
        shape = (counts.shape[0], len(self._order), *counts.shape[2:])
        labels = [unit for part in self._labels for unit in part]
        return replace(
            self.panel,
            counts=PatternCounts.of_rows(shape, *rows),
            size=self.joined(self.panel.size, 1),
            effort=self.joined(self.panel.effort, 1),
            features=self.joined(self.panel.features, 1),
            units=tuple(labels[at] for at in self._order),
        )

    def joined(self, own: np.ndarray, axis: int) -> np.ndarray:
        """What every process has of its units, along the axis of units, in the order of `whole`."""
        if self.group.count == 1:
            return own
        parts = self.group.every(np.ascontiguousarray(own))
        return np.concatenate(parts, axis).take(self._order, axis)

    @cached_property
    def _labels(self) -> list[list[Label]]:
        return self.group.every(list(self.panel.units))

    @cached_property
    def _order(self) -> Int[np.ndarray, " unit"]:
        labels = [unit for part in self._labels for unit in part]
        return np.array(sorted(range(len(labels)), key=lambda at: labels[at]))
