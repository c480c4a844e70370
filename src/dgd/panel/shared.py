"""Units of one panel spread over processes: each has its own, and knows what all counted."""

from dataclasses import replace

from dgd.errors import InputError
from dgd.panel.everyone import Everyone
from dgd.panel.panel import Panel
from dgd.processes.group import Group


def known_to_all(panel: Panel, group: Group) -> Panel:
    """The panel of a process's own units, with the sums of all processes' units.

    Raises:
        InputError: The panels are not parts of one: dates, cohorts or behaviours differ, or a
            process has no units.
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
