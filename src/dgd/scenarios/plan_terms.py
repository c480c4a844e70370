"""The terms of a plan as a user writes them: worth, bounds, limits and cells held fixed."""

from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Bool, Float
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.forecasting.protocol import MOST_STEPS
from dgd.panel.grids import LARGEST_EFFORT, Axes
from dgd.panel.new_units import most_effort
from dgd.panel.panel import Panel
from dgd.scenarios.cells import Cells, rows_of_cells
from dgd.scenarios.future import Outlook
from dgd.scenarios.planned_fit import ExpectingFit
from dgd.tables import checks, dates, refusing
from dgd.tables.frames import to_polars
from dgd.tables.labels import Label
from dgd.tables.periods import Moment

TIMES_SEEN = 2.0
"""The default upper bound, as a multiple of the most effort that training saw in the cell."""

Limit: TypeAlias = "float | Mapping[Any, float] | IntoFrame | None"
Bounds: TypeAlias = "tuple[float, float] | IntoFrame | None"
Fixed: TypeAlias = "Cells | Mapping[str, Any] | list[Any] | tuple[Any, ...] | IntoFrame | None"


def weights_of(objective: Mapping[str, float] | str, panel: Panel) -> Float[np.ndarray, " series"]:
    """What one more of every series is worth: arrivals, then behaviours."""
    given = {objective: 1.0} if isinstance(objective, str) else objective
    series = panel.series
    if not isinstance(given, Mapping):
        raise InputError(f'objective is {given!r}; give weights like {{"{series[-1]}": 1.0}}.')
    for name, weight in given.items():
        if name not in series:
            raise InputError(
                f'objective names "{name}", which the fit does not count; choose among '
                f"{', '.join(series)}."
            )
        if not _is_number(weight):
            raise InputError(f"objective weighs {name} by {weight!r}; give a finite number.")
    weights = np.array([float(given.get(name, 0.0)) for name in series])
    if not weights.any():
        raise InputError(
            f'objective has no weight; say what is wanted, like {{"{series[-1]}": 1.0}}.'
        )
    return weights


def budget_of(budget: float) -> float:
    if not _is_number(budget) or budget <= 0:
        raise InputError(f"budget is {budget!r}; give the effort to spend, a number above 0.")
    return float(budget)


def quantile_of(quantile: float | None) -> float | None:
    if quantile is None:
        return None
    if not _is_number(quantile) or not 0 < quantile < 1:
        raise InputError(f"quantile is {quantile!r}; give a share between 0 and 1, like 0.2.")
    return float(quantile)


def after_of(after: int | None, usual: int) -> int:
    if after is None:
        return usual
    if isinstance(after, bool) or not isinstance(after, int) or not 0 <= after <= MOST_STEPS:
        raise InputError(f"after is {after!r}; give a whole number of 0 or more.")
    return after


def bounds_of(
    fit: ExpectingFit, outlook: Outlook, bounds: Bounds
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Lower and upper bounds of every cell, and a note where they are the default."""
    shape = outlook.planned.effort.shape
    if bounds is None:
        most = TIMES_SEEN * most_effort(fit.panel, fit.split.train)
        note = f"effort of a cell is at most {TIMES_SEEN:g} times the most it had in training."
        return np.zeros(shape), np.broadcast_to(most, shape).copy(), (note,)
    if isinstance(bounds, (tuple, list)):
        if len(bounds) != 2 or not all(_is_number(end) for end in bounds):
            raise InputError(f"bounds is {bounds!r}; give the least and the most, like (0, 3).")
        low, high = (np.full(shape, float(end)) for end in bounds)
    else:
        low, high = _bounds_table(outlook, bounds)
    wrong = np.argwhere((low < 0) | (high < low) | (high > LARGEST_EFFORT))
    if len(wrong):
        at = tuple(wrong[0])
        raise InputError(
            f"bounds of {cell_words(outlook, at)} are {low[at]:g} to {high[at]:g}; give a least of "
            f"0 or more and a most that is no less, up to {LARGEST_EFFORT:g}."
        )
    return low, high, ()


def _bounds_table(outlook: Outlook, frame: IntoFrame) -> tuple[np.ndarray, np.ndarray]:
    panel = outlook.panel
    table = refusing.number_rows(to_polars(frame, "bounds")[0])
    refusing.refuse_empty(table, "bounds")
    if panel.columns.date in table.columns:
        table = dates.read_dates(table, "bounds", panel.columns.date, panel.period)
    for column in ("low", "high"):
        table = checks.read_values(table, "bounds", column)
    axes = Axes(outlook.dates, panel.units, panel.cohorts, panel.period)
    keys = axes.keys(panel.columns)
    grid = checks.keyed_values(table, "bounds", ["low", "high"], keys, panel.columns.date)
    low, high = (np.broadcast_to(grid[..., at], axes.shape).copy() for at in (0, 1))
    return low, high


def day_limits(outlook: Outlook, per_day: Limit) -> Float[np.ndarray, " step"]:
    """What every day may take, infinity where nothing limits it."""
    period = outlook.panel.period
    known = {str(day): at for at, day in enumerate(outlook.dates)}

    def place(day: Moment) -> int:
        parsed = str(period.parse(day, "per_day: date"))
        if parsed not in known:
            raise InputError(
                f"per_day names {day}, which is not among the {period.name}s ahead, "
                f"{outlook.dates[0]} to {outlook.dates[-1]}; choose one of these."
            )
        return known[parsed]

    return _limits(per_day, "per_day", outlook.panel.columns.date, len(known), place)


def unit_limits(outlook: Outlook, per_unit: Limit) -> Float[np.ndarray, " unit"]:
    """What every unit may take over the horizon, likewise."""
    known = {str(unit): at for at, unit in enumerate(outlook.panel.units)}

    def place(unit: Label) -> int:
        if str(unit) not in known:
            raise InputError(
                f'per_unit names unit "{unit}", which the fit does not have; choose among '
                f"{', '.join(known)}."
            )
        return known[str(unit)]

    return _limits(per_unit, "per_unit", outlook.panel.columns.unit, len(known), place)


def _limits(given: Limit, name: str, key: str, length: int, place: Any) -> np.ndarray:
    if given is None:
        return np.full(length, np.inf)
    pairs: list[tuple[int, Any]]
    if isinstance(given, (int, float)):
        pairs = [(at, given) for at in range(length)]
    elif isinstance(given, Mapping):
        pairs = [(place(label), value) for label, value in given.items()]
    else:
        table, _ = to_polars(given, name)
        refusing.require_columns(table, name, [key, "effort"])
        pairs = [(place(label), value) for label, value in table.select(key, "effort").iter_rows()]
    limits = np.full(length, np.inf)
    for at, value in pairs:
        if not _is_number(value) or value < 0:
            raise InputError(f"{name} holds {value!r}; give limits of 0 or more.")
        limits[at] = value
    return limits


def fixed_cells(outlook: Outlook, fixed: Fixed) -> Bool[np.ndarray, "step unit cohort"]:
    """Cells that keep the effort that is planned for them now."""
    mask = np.zeros(outlook.planned.effort.shape, bool)
    for name, cells in _named_cells(outlook.panel, fixed):
        mask |= cells.mask(outlook.panel, outlook.dates, name)
    return mask


def _named_cells(panel: Panel, fixed: Fixed) -> Iterator[tuple[str, Cells]]:
    """What is fixed, each part by the words that a refusal names it by."""
    if fixed is None:
        return
    if not isinstance(fixed, (Cells, Mapping, list, tuple)):
        yield from ((name, cells) for name, cells, _ in rows_of_cells(fixed, "fixed", panel))
        return
    several = fixed if isinstance(fixed, (list, tuple)) else [fixed]
    for number, one in enumerate(several, start=1):
        name = f"fixed {number}" if len(several) > 1 else "fixed"
        if isinstance(one, Cells):
            yield name, one
            continue
        if not isinstance(one, Mapping):
            raise InputError(
                f'{name} is {refusing.shown(one)}; name cells like {{"units": "north"}}.'
            )
        strange = [key for key in one if key not in ("dates", "units", "cohorts")]
        if strange:
            raise InputError(f'{name} has "{strange[0]}"; name cells by dates, units and cohorts.')
        yield name, Cells(**one)


def cell_words(outlook: Outlook, at: tuple[Any, ...]) -> str:
    """A cell of the days ahead as messages name it."""
    step, unit, cohort = at
    panel = outlook.panel
    return f"{outlook.dates[step]}, unit {panel.units[unit]}, cohort {panel.cohorts[cohort]}"


def _is_number(value: object) -> bool:
    number = isinstance(value, Real) and not isinstance(value, bool)
    return number and bool(np.isfinite(float(value)))  # type: ignore[arg-type]
