"""Counts that are there already, as a data set that shards can read."""

import os
from collections.abc import Sequence
from dataclasses import replace

import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.data_sets import axes_of, data_set_target
from dgd.panel import grids
from dgd.panel.grids import Columns
from dgd.parts.manifest import CountsManifest
from dgd.parts.writing import write_parts
from dgd.tables.frames import to_polars
from dgd.tables.periods import Moment, period_named


def partition_counts(
    counts: IntoFrame,
    folder: str | os.PathLike[str],
    *,
    behaviors: Sequence[str],
    partitions: int | None = None,
    date: str = "date",
    unit: str = "unit",
    cohort: str = "cohort",
    count: str = "count",
    context: Sequence[str] = (),
    period: str = "day",
    start: Moment | None = None,
    end: Moment | None = None,
    duplicates: str = "refuse",
) -> CountsManifest:
    """Write a counts table as a data set, split by a hash of the unit.

    The table is checked as `Panel.from_counts` checks it. A unit is in part
    `hash_bucket(unit, partitions)`.

    Args:
        counts: One row per date, unit, cohort and joint pattern.
        folder: Where the data set is wanted; one that stands there is replaced when the new one
            is whole.
        behaviors: One 0/1 column each.
        partitions: How many parts to make, at least as many as shards will read it; 64 unless
            told.
        date, unit, cohort, count: What these columns are called.
        context: Numeric columns that tell events of a cell apart.
        period: "hour", "day" or "week".
        start, end: The first and last date observed, where nothing arrived on them.
        duplicates: "sum" adds up rows that speak of the same cell and pattern.

    Returns:
        What the manifest says: axes, and totals of every part.

    Raises:
        InputError: The table could not become a panel, or the folder holds something else.
        OutputError: The folder could not be written.
    """
    columns = Columns(date, unit, cohort, count)
    time = period_named(period)
    target, parts = data_set_target(folder, partitions, columns, behaviors, context)
    given, _ = to_polars(counts, "counts")
    ends = (start, end)
    table = grids.read_counts_table(given, columns, behaviors, context, time, duplicates, ends)
    moments = grids.date_axis(table, date, time, start, end)
    table = table.with_columns(_one_kind(table[unit]), _one_kind(table[cohort]))
    axes = axes_of(table, columns, behaviors, context, time)
    observed = replace(axes, first=str(moments[0]), last=str(moments[-1]))
    keys = [*columns.cell, *context, *behaviors]
    return write_parts(table.sort(keys), target, observed, parts)


def _one_kind(labels: pl.Series) -> pl.Series:
    """Labels as whole numbers or texts, which is what a panel calls them."""
    if labels.dtype.is_integer() or labels.dtype == pl.String:
        return labels
    distinct = labels.unique()
    texts = pl.Series([str(label) for label in distinct.to_list()], dtype=pl.String)
    return labels.replace_strict(distinct, texts, return_dtype=pl.String)
