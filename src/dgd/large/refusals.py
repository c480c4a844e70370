"""Questions about too many units at once, or about units that are not there, are refused."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from dgd.errors import InputError, few
from dgd.machine.memory import memory, shown_bytes
from dgd.panel.panel import Panel
from dgd.tables.labels import Label

SHARE_OF_MEMORY = 0.25
"""How much of the machine's memory the forecasts of all units may take; work takes more."""


def refuse_together(panel: Panel, times: int) -> None:
    """Refuse forecasts of all units at once, so many `times` a day's, that memory cannot hold."""
    needed, there = 8 * times * panel.counts.of_a_day, memory()
    if there is not None and needed > SHARE_OF_MEMORY * there:
        raise InputError(
            f"forecasts of {len(panel.units):,} units together take {shown_bytes(needed)}, and "
            f"this machine has {shown_bytes(there)}; write them with forecast_to(folder, horizon), "
            "or name some with units=[...]."
        )


def unit_numbers(
    known: Sequence[Label], units: Sequence[Label] | Int[np.ndarray, " some"]
) -> Int[np.ndarray, " some"]:
    """The numbers of units that are named by label or, where labels are texts, by number."""
    asked = units.tolist() if isinstance(units, np.ndarray) else list(units)
    if isinstance(units, (str, bytes)) or not asked:
        raise InputError(f"units is {units!r:.80}; name at least one, like units=[{known[0]!r}].")
    numbers = [unit for unit in asked if isinstance(unit, int)]
    if len(numbers) == len(asked) and (isinstance(units, np.ndarray) or isinstance(known[0], str)):
        strange = [number for number in numbers if not 0 <= number < len(known)]
        if strange:
            raise InputError(
                f"unit number {strange[0]:,} is not there; units are numbered from 0 to "
                f"{len(known) - 1:,}."
            )
        found = numbers
    else:
        place = {label: number for number, label in enumerate(known)}
        unknown = [unit for unit in asked if unit not in place]
        if unknown:
            raise InputError(
                f"units names {few(unknown)}, which the fit does not know; it has {few(known)}."
            )
        found = [place[unit] for unit in asked]
    if len(set(found)) < len(found):
        raise InputError("units names a unit twice; name each once.")
    return np.array(found)
