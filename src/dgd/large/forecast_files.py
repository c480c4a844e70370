"""Forecasts as a data set: Parquet files in parts by a hash of the unit, and a manifest."""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Int

from dgd.files.atomic import write_atomically
from dgd.files.folders import folder_made_whole, refuse_other_folder
from dgd.large.block_size import units_at_once
from dgd.panel.panel import Panel
from dgd.panel.some_units import blocks_of_units
from dgd.parts.manifest import MANIFEST, checked_partitions, part_folder
from dgd.parts.writing import refuse_part_column
from dgd.processes.group import Group
from dgd.tables.hashing import hash_bucket

FORMAT = 1
"""Rises whenever data sets written before could no longer be read, or not by an earlier dgd."""
USUAL_PARTITIONS = 64
"""How many parts a data set has where nobody says."""


@dataclass(frozen=True, eq=False)
class ForecastFiles:
    """Where forecasts go, refused before any work where that cannot be."""

    folder: Path
    partitions: int
    group: Group

    @staticmethod
    def of(
        folder: str | os.PathLike[str], partitions: int | None, panel: Panel, group: Group
    ) -> "ForecastFiles":
        number = checked_partitions(USUAL_PARTITIONS if partitions is None else partitions)
        refuse_part_column([*panel.columns.cell, *panel.series])
        refuse_other_folder(Path(folder), MANIFEST)
        return ForecastFiles(Path(folder), number, group)

    def write(
        self,
        table: Callable[[Int[np.ndarray, " some"]], pl.DataFrame],
        panel: Panel,
        origin: np.datetime64,
        dates: np.ndarray,
    ) -> dict[str, Any]:
        """Write the rows that `table` has of all units, each process its own; the folder is
        there, whole, when all have written.

        Returns:
            What the manifest says.
        """
        group = self.group
        part = np.array([hash_bucket(unit, self.partitions) for unit in panel.units])
        rows, units = np.zeros((2, self.partitions), np.int64)
        with ExitStack() as stack:
            beside = ""
            if group.leads:
                beside = str(stack.enter_context(folder_made_whole(self.folder, MANIFEST)))
            target = Path(group.every(beside)[0])
            for number in np.unique(part):
                own = np.flatnonzero(part == number)
                place = target / part_folder(int(number))
                place.mkdir(exist_ok=True)
                blocks = blocks_of_units(len(own), units_at_once(panel))
                found = pl.concat([table(own[block]) for block in blocks])
                _write(found, place / f"forecast-{group.index:05d}.parquet")
                rows[number], units[number] = found.height, len(own)
            totals = (group.sum(rows).tolist(), group.sum(units).tolist())
            facts = _manifest(panel, origin, dates, *totals)
            if group.leads:
                write_atomically(target / MANIFEST, json.dumps(facts, indent=1).encode())
        group.barrier("forecasts are written")
        return facts


def _write(table: pl.DataFrame, path: Path) -> None:
    with path.open("xb") as file:
        table.write_parquet(file)
        file.flush()
        os.fsync(file.fileno())


def _manifest(
    panel: Panel,
    origin: np.datetime64,
    dates: np.ndarray,
    rows: Sequence[int],
    units: Sequence[int],
) -> dict[str, Any]:
    columns = panel.columns
    return {
        "format": FORMAT,
        "holds": "forecast",
        "columns": {"date": columns.date, "unit": columns.unit, "cohort": columns.cohort},
        "series": list(panel.series),
        "period": panel.period.name,
        "origin": str(origin),
        "first": str(dates[0]),
        "last": str(dates[-1]),
        "cohorts": list(panel.cohorts),
        "partitions": len(rows),
        "rows": sum(rows),
        "units": sum(units),
        "parts": [{"rows": r, "units": u} for r, u in zip(rows, units, strict=True)],
    }
