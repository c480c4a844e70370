"""Tables read as a panel, in the app itself and in the process of a fit."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from dgd.app.library import Reading
from dgd.panel.panel import Panel
from dgd.tables.files import read_table, write_table

COLUMNS = "columns.json"
PARTS = ("counts", "sizes", "effort", "features", "special")


def read(name: str, frames: Mapping[str, pl.DataFrame], columns: Mapping[str, Any]) -> Reading:
    """The tables as a panel, and all that is needed to read them again."""
    return Reading(name, frames, columns, _panel(frames, columns))


def hand_over(reading: Reading, folder: Path) -> None:
    """Write a reading where another process finds it; tables that changed since stay as read."""
    for part, frame in reading.frames.items():
        write_table(frame, folder / f"{part}.parquet")
    (folder / COLUMNS).write_text(json.dumps(dict(reading.columns)), "utf-8")


def handed_over(folder: Path) -> Panel:
    """The panel of a reading that `hand_over` wrote."""
    files = {part: folder / f"{part}.parquet" for part in PARTS}
    frames = {part: read_table(file) for part, file in files.items() if file.exists()}
    return _panel(frames, json.loads((folder / COLUMNS).read_text("utf-8")))


def _panel(frames: Mapping[str, pl.DataFrame], columns: Mapping[str, Any]) -> Panel:
    known: dict[str, Any] = {part: frames.get(part) for part in PARTS[1:]}
    return Panel.from_counts(frames["counts"], **known, **columns)
