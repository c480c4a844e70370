"""Which cells of the days ahead are meant: dates, units and cohorts as a user names them, one by
one or as rows of a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from jaxtyping import Bool
from narwhals.typing import IntoFrame

from dgd.errors import InputError, few
from dgd.panel.panel import Panel
from dgd.tables.frames import to_polars
from dgd.tables.labels import Label
from dgd.tables.periods import Moment
from dgd.tables.refusing import refuse_empty, require_columns

NAMING = ("date", "from", "to", "unit", "cohort")
Dates: TypeAlias = Moment | Sequence[Moment | None] | None
"""One date, or the first and the last of a range; `None` leaves an end open."""
Labels: TypeAlias = Label | Sequence[Label] | None


@dataclass(frozen=True)
class Cells:
    """A part of the grid of days ahead; what is not named is all of it."""

    dates: Dates = None
    units: Labels = None
    cohorts: Labels = None

    def mask(
        self, panel: Panel, ahead: np.ndarray, name: str
    ) -> Bool[np.ndarray, "step unit cohort"]:
        """True in the cells that are meant, among the dates `ahead`; `name` begins a refusal."""
        days = _within(self.dates, panel, ahead, name)
        units = _among(self.units, panel.units, f"{name}: unit")
        cohorts = _among(self.cohorts, panel.cohorts, f"{name}: cohort")
        return days[:, None, None] & units[:, None] & cohorts


def _within(given: Dates, panel: Panel, ahead: np.ndarray, name: str) -> Bool[np.ndarray, " step"]:
    first, last = ends_of(given, name)
    asked = []
    for moment, otherwise in ((first, ahead[0]), (last, ahead[-1])):
        if moment is None:
            asked.append(otherwise)
            continue
        parsed = panel.period.parse(moment, f"{name}: date")
        if parsed not in ahead:
            raise InputError(
                f"{name}: date {moment} is not among the {panel.period.name}s ahead, "
                f"{ahead[0]} to {ahead[-1]}; choose one of these or a longer horizon."
            )
        asked.append(parsed)
    if asked[0] > asked[1]:
        raise InputError(
            f"{name}: its first date {first} lies after its last, {last}; exchange the two."
        )
    return np.asarray((ahead >= asked[0]) & (ahead <= asked[1]))


def ends_of(given: Dates, name: str) -> tuple[Moment | None, Moment | None]:
    """The first and the last date of what a user gave."""
    if given is None or isinstance(given, (str, date, np.datetime64)):
        return given, given
    if isinstance(given, Sequence) and len(given) == 2:
        return given[0], given[1]
    raise InputError(f"{name}: dates is {given!r}; give one date, or the first and the last.")


def _among(given: Labels, known: Sequence[Label], name: str) -> Bool[np.ndarray, " label"]:
    if given is None:
        return np.ones(len(known), bool)
    labels = [given] if isinstance(given, (str, int)) else list(given)
    if not labels:
        raise InputError(f"{name}s is empty; name at least one or leave it out for all.")
    # labels are compared as they are written: 7 is "7", as in tables
    written = [str(label) for label in known]
    for label in labels:
        if str(label) not in written:
            raise InputError(
                f'{name} "{label}" is not in the fit, which has {few(written)}; correct the label.'
            )
    wanted = {str(label) for label in labels}
    return np.array([label in wanted for label in written])


def checked_labels(given: object, name: str) -> None:
    """Refuse what is no label and no list of labels."""
    if given is None or (isinstance(given, (str, int)) and not isinstance(given, bool)):
        return
    listed = list(given) if isinstance(given, Iterable) else [given]
    for label in listed:
        if isinstance(label, bool) or not isinstance(label, (str, int, np.integer)):
            raise InputError(f"{name} is {given!r}; give a label or a list of labels.")


def rows_of_cells(
    frame: IntoFrame, name: str, panel: Panel, beside: Sequence[str] = ()
) -> list[tuple[str, Cells, dict[str, Any]]]:
    """Every row by the words that a refusal names it by: its cells, and what it says `beside` them.

    An empty field means all. Columns may be named as in the panel.
    """
    table = _renamed(to_polars(frame, name)[0], name, panel)
    require_columns(table, name, beside)
    refuse_empty(table, name, "give at least one row")
    known = (*beside, *NAMING)
    strange = [column for column in table.columns if column not in known]
    if strange:
        raise InputError(
            f'{name} has a column "{strange[0]}"; its columns may be {", ".join(known)}: rename it '
            "or leave it out."
        )
    if "date" in table.columns and {"from", "to"} & set(table.columns):
        raise InputError(f"{name} has date beside from or to; give one date, or a range.")
    rows = enumerate(table.to_dicts(), start=1)
    return [(f"{name} row {number}", *_read(row)) for number, row in rows]


def _renamed(table: pl.DataFrame, name: str, panel: Panel) -> pl.DataFrame:
    own = panel.columns
    same = {own.date: "date", own.unit: "unit", own.cohort: "cohort"}
    for theirs, ours in same.items():
        if theirs != ours and {theirs, ours} <= set(table.columns):
            raise InputError(
                f'{name} has the columns "{theirs}" and "{ours}", which mean the same; keep one.'
            )
    return table.rename(
        {theirs: ours for theirs, ours in same.items() if theirs in table.columns}, strict=False
    )


def _read(row: dict[str, Any]) -> tuple[Cells, dict[str, Any]]:
    filled = {key: value for key, value in row.items() if value is not None and value != ""}
    dates = filled.pop("date", None)
    if "from" in filled or "to" in filled:
        dates = (filled.pop("from", None), filled.pop("to", None))
    return Cells(dates, filled.pop("unit", None), filled.pop("cohort", None)), filled
