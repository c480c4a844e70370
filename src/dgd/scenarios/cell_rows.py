"""Rows of a table that name cells of the days ahead: date (or from and to), unit and cohort."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.panel.panel import Panel
from dgd.scenarios.cells import Cells
from dgd.tables.frames import to_polars
from dgd.tables.refusing import refuse_empty, require_columns

NAMING = ("date", "from", "to", "unit", "cohort")


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
