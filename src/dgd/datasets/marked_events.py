"""From a table of events, each with its day, unit, cohort and marks, to a data set."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dgd.datasets.dataset import Dataset
from dgd.datasets.sources import data_folder
from dgd.datasets.tallies import Tally
from dgd.datasets.windows import Window, refuse_empty_parts
from dgd.errors import InputError
from dgd.panel.panel import Panel
from dgd.tables import refusing
from dgd.tables.files import read_table

SUMMARY_RETENTION = 0.85
"""As the paper has it for Retail."""


def find_table(path: str | Path | None, file: str, folder: str, page: str) -> Path:
    """The file itself, or the one of that name in a data folder or in its part `folder`.

    Args:
        path: A file or a folder as the user gave it, or None for the usual one.
        file: How the file is called.
        folder: The part of a data folder that it may lie in.
        page: Where it is published.
    """
    given = data_folder(path)
    for found in (given, given / file, given / folder / file):
        if found.is_file():
            return found
    raise InputError(
        f"{file} is not in {given}; get it from {page}, and name its folder with path= or DGD_DATA."
    )


def read_columns(file: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Some columns of a file."""
    table = read_table(file)
    refusing.refuse_empty(table, file.name, "hand over at least one row")
    refusing.require_columns(table, file.name, columns)
    return table.select(columns)


def dataset_of_events(
    events: pl.DataFrame, window: Window, tally: Tally, marks: Sequence[str], **known: Any
) -> Dataset:
    """The events of a window, counted by the columns date, unit, cohort and `marks`.

    Args:
        events: One row each.
        window: The days to keep.
        tally: What has been kept so far.
        marks: The behaviours, one 0/1 column each.
        known: Sizes, effort, units, cohorts and country, as `Panel.from_counts` takes them.
    """
    refuse_empty_parts(window, events["date"], "date", "events")
    inside = tally.keep(
        "in the window",
        events.filter(pl.col("date").is_between(window.warmup_start, window.test_end)),
    )
    counts = inside.group_by("date", "unit", "cohort", *marks).agg(pl.len().alias("count"))
    panel = Panel.from_counts(
        counts, behaviors=list(marks), start=window.warmup_start, end=window.test_end, **known
    )
    return Dataset(panel, window, tally.report(), {}, SUMMARY_RETENTION)


def largest(events: pl.DataFrame, column: str, window: Window, most: int) -> list[str]:
    """The values of `column` with the most events of the warm-up, equal ones by name."""
    first, last = window.parts["warm-up"]
    seen = events.filter(pl.col("date").is_between(first, last))
    counted = seen.group_by(column).agg(pl.len().alias("events"))
    return counted.sort("events", column, descending=[True, False])[column].head(most).to_list()


def grouped(column: str, groups: Mapping[str, Sequence[str]], rest: str) -> pl.Expr:
    """The group that each value of `column` belongs to, `rest` where none has it."""
    names = {value: name for name, values in groups.items() for value in values}
    return pl.col(column).replace_strict(names, default=rest, return_dtype=pl.String)
