"""Changes of what is known of the days ahead, as a user writes them, and what they make of it.

A change sets, multiplies or shifts effort, sizes or a feature, everywhere or for chosen dates,
units and cohorts. A table of changes has the columns what, how and value, and where they
matter date (or from and to), unit and cohort; an empty field means all. A change whose result
cannot be is refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.panel.grids import LARGEST_EFFORT, LARGEST_SIZE, SMALLEST_EFFORT, SMALLEST_SIZE
from dgd.panel.panel import Panel
from dgd.scenarios.cells import (
    Cells,
    Dates,
    Labels,
    checked_labels,
    ends_of,
    rows_of_cells,
)
from dgd.scenarios.future import Future, Outlook
from dgd.tables.checks import LARGEST_VALUE
from dgd.tables.refusing import shown

HOWS = ("set", "multiply", "shift")
LIMITS = {"effort": (SMALLEST_EFFORT, LARGEST_EFFORT), "size": (SMALLEST_SIZE, LARGEST_SIZE)}


@dataclass(frozen=True)
class Change:
    """One change of effort, of sizes or of a feature.

    Args:
        what: "effort", "size" or the name of a feature.
        how: "set" to the value, "multiply" by it, or "shift" by it.
        dates: one date, or the first and the last of a range; all days ahead by default.
        units, cohorts: a label or several; all by default.
    """

    what: str
    how: str
    value: float
    dates: Dates = None
    units: Labels = None
    cohorts: Labels = None

    def __post_init__(self) -> None:
        if not isinstance(self.what, str) or not self.what:
            raise InputError(
                f'what is {shown(self.what)}; name "effort", "size" or a feature of the fit.'
            )
        if not isinstance(self.how, str) or self.how not in HOWS:
            raise InputError(f"how is {shown(self.how)}; choose set, multiply or shift.")
        number = isinstance(self.value, Real) and not isinstance(self.value, bool)
        if not number or not np.isfinite(self.value):
            raise InputError(f"value is {shown(self.value)}; give a finite number.")
        ends_of(self.dates, "the change")
        checked_labels(self.units, "units")
        checked_labels(self.cohorts, "cohorts")

    @property
    def cells(self) -> Cells:
        return Cells(self.dates, self.units, self.cohorts)

    def applied(self, values: np.ndarray) -> np.ndarray:
        """What the change makes of `values`."""
        if self.how == "set":
            return np.full_like(values, self.value)
        return values * self.value if self.how == "multiply" else values + self.value


Changes: TypeAlias = (
    "Change | Mapping[str, Any] | list[Any] | tuple[Any, ...] | IntoFrame"  # several, or a table
)


def named_changes(changes: Changes, panel: Panel) -> list[tuple[str, Change]]:
    """Every change with the words that a refusal names it by, in the order they are made."""
    if isinstance(changes, Change):
        return [("the change", changes)]
    if isinstance(changes, Mapping):
        return [("the change", _made(changes, "the change"))]
    if isinstance(changes, (list, tuple)):
        if not changes:
            raise InputError("changes is empty; give at least one change.")
        named = [(f"change {number}", one) for number, one in enumerate(changes, start=1)]
        return [(name, _made(one, name)) for name, one in named]
    rows = rows_of_cells(changes, "changes", panel, beside=("what", "how", "value"))
    return [(name, _made({**of_row, **asdict(cells)}, name)) for name, cells, of_row in rows]


def _made(given: object, name: str) -> Change:
    if isinstance(given, Change):
        return given
    if not isinstance(given, Mapping):
        raise InputError(f"{name} is {shown(given)}; give a Change or its arguments by name.")
    known = [field.name for field in fields(Change)]
    strange = [key for key in given if key not in known]
    if strange:
        raise InputError(f'{name} has "{strange[0]}"; a change has {", ".join(known)}: rename it.')
    missing = [key for key in ("what", "how", "value") if key not in given]
    if missing:
        raise InputError(f"{name} has no {missing[0]}; give what, how and value.")
    try:
        return Change(**given)
    except InputError as refusal:
        raise InputError(f"{name}: {refusal}") from refusal


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
