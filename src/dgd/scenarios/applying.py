"""Changes applied to the future that is planned, refused where the result cannot be."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dgd.errors import InputError
from dgd.panel.grids import LARGEST_EFFORT, LARGEST_SIZE, SMALLEST_EFFORT, SMALLEST_SIZE
from dgd.panel.panel import Panel
from dgd.scenarios.changes import Change
from dgd.scenarios.future import Future, Outlook
from dgd.tables.checks import LARGEST_VALUE

LIMITS = {"effort": (SMALLEST_EFFORT, LARGEST_EFFORT), "size": (SMALLEST_SIZE, LARGEST_SIZE)}


def changed_future(outlook: Outlook, changes: Sequence[tuple[str, Change]]) -> Future:
    """The planned future with every change made, one after the other."""
    future = outlook.planned
    for name, change in changes:
        future = _changed(future, outlook, name, change)
    same = all(
        np.array_equal(getattr(future, part), getattr(outlook.planned, part))
        for part in ("effort", "size", "features")
    )
    if same:
        raise InputError(
            "the changes leave every day ahead as it is planned; change a value, or ask for a "
            "forecast instead."
        )
    return future


def _changed(future: Future, outlook: Outlook, name: str, change: Change) -> Future:
    panel = outlook.panel
    _refuse_unknown(panel, name, change)
    mask = change.cells.mask(panel, outlook.dates, name)
    if change.what in LIMITS:
        values = getattr(future, change.what).copy()
        values[mask] = change.applied(values[mask])
        _refuse_values(values, outlook, name, change)
        return replace(future, **{change.what: values})
    column = panel.feature_names.index(change.what)
    features = future.features.copy()
    features[mask, column] = change.applied(features[mask, column])
    _refuse_values(features[..., column], outlook, name, change)
    return replace(future, features=features)


def _refuse_unknown(panel: Panel, name: str, change: Change) -> None:
    if change.what == "effort" and not panel.has_effort:
        raise InputError(
            f"{name} is of effort, but the fit was made without effort and knows nothing of it; "
            "make the panel with an effort table and fit again."
        )
    if change.what not in (*LIMITS, *panel.feature_names):
        features = f" or a feature: {', '.join(panel.feature_names)}" if panel.feature_names else ""
        raise InputError(
            f'{name} is of "{change.what}", which the fit does not know; choose effort, '
            f"size{features}."
        )


def _refuse_values(values: np.ndarray, outlook: Outlook, name: str, change: Change) -> None:
    if change.what in LIMITS:
        low, high = LIMITS[change.what]
        wrong = ~((values == 0) | ((values >= low) & (values <= high)))
        way_out = f"give 0 or a number from {low:g} to {high:g}"
    else:
        wrong = ~(np.abs(values) <= LARGEST_VALUE)
        way_out = f"give a number of at most {LARGEST_VALUE:g}"
    if wrong.any():
        step, unit, cohort = np.argwhere(wrong)[0]
        raise InputError(
            f"{name} makes {change.what} {values[step, unit, cohort]:g} on {outlook.dates[step]}, "
            f"unit {outlook.panel.units[unit]}, cohort {outlook.panel.cohorts[cohort]}; {way_out}."
        )
