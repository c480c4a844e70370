"""Where counts go that no single machine should hold: a data set, and what it must keep to."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from dgd.counting.group_keys import refuse_odd_numbers
from dgd.counting.opened_log import OpenedLog
from dgd.errors import InputError
from dgd.files.folders import refuse_other_folder
from dgd.panel.grids import Columns, check_counts_names
from dgd.parts.manifest import MANIFEST, CountsManifest, checked_partitions
from dgd.parts.writing import refuse_part_column, write_parts
from dgd.tables import dates
from dgd.tables.periods import Period

USUAL_PARTITIONS = 64
"""How many parts a data set has where nobody says."""


def data_set_target(
    to: str | os.PathLike[str],
    partitions: int | None,
    columns: Columns,
    behaviors: Sequence[str],
    context: Sequence[str],
) -> tuple[Path, int]:
    """The folder and the number of its parts, refused before any work where they cannot be."""
    parts = checked_partitions(USUAL_PARTITIONS if partitions is None else partitions)
    if not isinstance(to, (str, os.PathLike)):
        raise InputError(f"to is {to!r:.80}; give the path of a folder.")
    if "://" in os.fspath(to):
        raise InputError(
            f'to is "{to}", an address; name a folder, on a cluster one that all machines share.'
        )
    check_counts_names(columns, behaviors, context)
    refuse_part_column([*columns.cell, columns.count, *behaviors, *context])
    refuse_other_folder(Path(to), MANIFEST)
    return Path(to), parts


def axes_of(
    table: pl.DataFrame,
    columns: Columns,
    behaviors: Sequence[str],
    context: Sequence[str],
    period: Period,
) -> CountsManifest:
    """The manifest of counts, but for its parts; the table needs no more than dates and cohorts."""
    moments = table[columns.date].to_numpy().astype(f"datetime64[{period.unit}]")
    return CountsManifest(
        columns={
            "date": columns.date, "unit": columns.unit,
            "cohort": columns.cohort, "count": columns.count,
        },
        behaviors=tuple(behaviors),
        context=tuple(context),
        period=period.name,
        first=str(moments.min()),
        last=str(moments.max()),
        cohorts=tuple(table[columns.cohort].unique().sort().to_list()),
        parts=(),
    )  # fmt: skip


def axes_of_log(log: OpenedLog, kept: pl.DataFrame, count: str) -> CountsManifest:
    """The same of groups of a log; dates that a panel would refuse later are refused here."""
    grouping, period = log.grouping, log.grouping.period
    named = log.start is not None and log.end is not None
    moments = kept.select(grouping.moment.alias("date"), "cohort").unique()
    if not named:
        column = log.clock.column
        dates.refuse_sparse_dates(
            moments.select(pl.col("date").alias(column)), "events", column, period
        )
        found = dates.far_date(
            np.unique(moments["date"].to_numpy().astype(f"datetime64[{period.unit}]")), period
        )
        if found is not None:
            raise InputError(
                f"events column {column}: {found[0]} lies {found[1]:,} {period.name}s "
                "from the next date; correct it, or name the first and last date with start= and "
                "end=."
            )
    columns = Columns("date", "unit", "cohort", count)
    return axes_of(moments, columns, grouping.behaviors, grouping.context, period)


def write_groups(
    log: OpenedLog, kept: pl.DataFrame, count: str, target: tuple[Path, int]
) -> CountsManifest:
    """Write groups that are in memory as a data set."""
    refuse_odd_numbers(kept, log.grouping.context)
    axes = axes_of_log(log, kept, count)
    return write_parts(log.grouping.spread(kept, count), target[0], axes, target[1])
