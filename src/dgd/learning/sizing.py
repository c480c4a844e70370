"""Sizes that fit the counts: intensities per person must stay where the model can express them.

The log-intensity of contact lies between -16 and 10. Where a panel was made without
sizes, cells with many arrivals take their mean arrivals for their size, so that intensities
are near one; only proportions of sizes matter to everything else. With innovations all cells have
the same size instead, for their levels are found day by day. Sizes that were given are
kept, and refused where the counts lie beyond what they allow.
"""

import warnings
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from dgd.errors import InputError, few
from dgd.model.arrival import LOG_INTENSITY_RANGE
from dgd.panel.panel import Panel
from dgd.panel.split import Split, mean_per_period

MANY = 100.0
"""Mean arrivals of a cell from which on they are its size; below, a size of 1 serves."""
MARGIN = 1.0
"""How far inside the range of log-intensities the mean of a cell must lie."""


def fitting_sizes(panel: Panel, split: Split, *, alike: bool = False) -> Panel:
    """The panel with sizes that its training counts can be expressed with.

    Where cells start `alike` and innovations find their levels, those without a size all have the
    same one, and no level lies out of reach.
    """
    if not panel.sized:
        own = _common_size(panel, split) if alike else _own_sizes(panel, split)
        panel = replace(panel, size=np.broadcast_to(own, panel.size.shape).copy())
        if alike:
            return panel
    _refuse_unreachable(panel, split)
    if not alike:
        _warn_of_peaks(panel, split)
        _warn_of_newcomers(panel, split)
    return panel


def _own_sizes(panel: Panel, split: Split) -> Float[np.ndarray, "unit cohort"]:
    mean = np.maximum(
        mean_per_period(panel.arrivals, split.warmup),
        mean_per_period(panel.arrivals, split.train),
    )
    return np.where(mean > MANY, mean, 1.0)


def _common_size(panel: Panel, split: Split) -> float:
    """Mean arrivals of a cell of all units, wherever they are."""
    everyone = panel.together
    return max(1.0, float(everyone.arrivals[split.train].mean()) / everyone.units)


def _log_rates(arrivals: np.ndarray, people: np.ndarray) -> Float[np.ndarray, "*cell"]:
    """Log arrivals per person, NaN where nobody arrived or could."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((arrivals > 0) & (people > 0), np.log(arrivals / people), np.nan)


def _refuse_unreachable(panel: Panel, split: Split) -> None:
    days = split.train
    arrivals = panel.arrivals[days].sum(0)
    rates = _log_rates(arrivals, (panel.size[days] * panel.effort[days]).sum(0))
    low, high = LOG_INTENSITY_RANGE
    wrong = np.argwhere((rates < low + MARGIN) | (rates > high - MARGIN))
    if not len(wrong):
        return
    unit, cohort = wrong[0]
    small = rates[unit, cohort] > 0
    raise InputError(
        f"unit {panel.units[unit]}, cohort {panel.cohorts[cohort]}: "
        f"{arrivals[unit, cohort] / (split.train_stop - split.first):.4g} arrivals a "
        f"{panel.period.name} from a size of {panel.size[split.first, unit, cohort]:.4g} are "
        f"{np.exp(rates[unit, cohort]):.3g} per person and unit of effort, "
        f"{'more' if small else 'less'} than the model can express; give sizes and effort in "
        f"{'larger' if small else 'smaller'} numbers, for example {'times' if small else 'by'} "
        "the thousand, or leave the sizes out."
    )


def _warn_of_peaks(panel: Panel, split: Split) -> None:
    days = slice(split.first, split.validation_stop)
    rates = _log_rates(panel.arrivals[days], panel.size[days] * panel.effort[days])
    high = LOG_INTENSITY_RANGE[1]
    peaks = np.argwhere(rates > high)
    if len(peaks):
        day, unit, cohort = peaks[0]
        warnings.warn(
            f"{panel.dates[days][day]}, unit {panel.units[unit]}, cohort {panel.cohorts[cohort]}: "
            f"{panel.arrivals[days][day, unit, cohort]:,} arrivals are more than the model can "
            f"express at a size of {panel.size[days][day, unit, cohort]:.4g}; forecasts stay "
            "below: give larger sizes.",
            UserWarning,
            stacklevel=4,
        )


def _warn_of_newcomers(panel: Panel, split: Split) -> None:
    """Say which units and cohorts the training days know nothing of."""
    arrivals = panel.arrivals[split.train].sum(0)
    of_cohorts = panel.together.arrivals[split.train].sum(0)
    told = [("unit", panel.units, arrivals.sum(1)), ("cohort", panel.cohorts, of_cohorts)]
    for what, labels, seen in told:
        unseen = [label for label, number in zip(labels, seen, strict=True) if number == 0]
        if unseen:
            warnings.warn(
                f"{what} {few(unseen)} had no arrivals through the last training date, "
                f"{panel.dates[split.train_stop - 1]}; forecasts of it start from next to "
                "nothing: train on later dates too.",
                UserWarning,
                stacklevel=4,
            )
