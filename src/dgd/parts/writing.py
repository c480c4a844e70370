"""A checked table of counts written part by part, in the order of its rows."""

import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from dgd.errors import InputError
from dgd.files.folders import folder_made_whole
from dgd.parts.manifest import MANIFEST, CountsManifest, PartTotals, part_folder
from dgd.tables.hashing import hash_bucket

PART = "part"
"""The column of a data set that its folders hold instead of its files."""


def refuse_part_column(names: list[str]) -> None:
    """Refuse a column that engines would take for the one the folders stand for."""
    if PART in (name.lower() for name in names):
        raise InputError(
            f'column "{PART}" has the name of the folders of a data set; rename that column.'
        )


def write_parts(
    table: pl.DataFrame, folder: Path, axes: CountsManifest, partitions: int
) -> CountsManifest:
    """Write the table as a data set that takes the folder's place when all of it is there.

    Args:
        table: Counts with the columns that `axes` names.
        folder: Where the data set is wanted.
        axes: Its manifest, but for the totals of its parts.
        partitions: How many parts to make.
    """
    unit, count = axes.columns["unit"], axes.columns["count"]
    part = parts_of(table[unit], partitions)
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(partitions + 1))
    stored = table.select(axes.names).with_columns(
        pl.col(axes.behaviors).cast(pl.Int8), pl.col(axes.context).cast(pl.Float64)
    )
    totals = []
    with folder_made_whole(folder, MANIFEST) as beside:
        for number, (begin, end) in enumerate(pairwise(ends)):
            rows = stored[order[begin:end]]
            if rows.height:
                _write(rows, beside / part_folder(number))
            totals.append(PartTotals(rows.height, int(rows[count].sum()), rows[unit].n_unique()))
        written = replace(axes, parts=tuple(totals))
        written.write(beside)
    return written


def parts_of(units: pl.Series, partitions: int) -> np.ndarray:
    """The part of every row by its unit; each unit is hashed once."""
    distinct = units.unique()
    part = pl.Series([hash_bucket(label, partitions) for label in distinct], dtype=pl.UInt16)
    return units.replace_strict(distinct, part, return_dtype=pl.UInt16).to_numpy()


def _write(rows: pl.DataFrame, folder: Path) -> None:
    folder.mkdir()
    with (folder / "counts.parquet").open("xb") as file:
        rows.write_parquet(file)
        file.flush()
        os.fsync(file.fileno())
