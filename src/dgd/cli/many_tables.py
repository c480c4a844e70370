"""Many panels as the shell is given them: a table with a column that names them, or a folder."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from dgd.cli.options import PanelOptions
from dgd.errors import InputError
from dgd.tables.checks import read_labels
from dgd.tables.files import ENDINGS, read_table
from dgd.tables.refusing import refuse_empty

if TYPE_CHECKING:
    from dgd.many.jobs import PanelMaker
    from dgd.panel.panel import Panel


def panels_by_name(table: PanelOptions, by: str | None) -> "dict[str, PanelMaker]":
    """What makes each panel, so that one that is refused does not stop the others."""
    known = table.known()
    if by is None:
        return {
            name: partial(_read, table, file, known) for name, file in _files(table.counts).items()
        }
    keys = (table.date, table.unit, table.cohort)
    counts = read_table(table.counts)
    refuse_empty(counts, "counts")
    read_labels(counts, "counts", by)
    parts = _parts(counts, by, keys)
    more = {
        what: _parts(given, by, keys) if given is not None and by in given.columns else None
        for what, given in known.items()
    }
    return {
        name: partial(
            table.panel_of,
            part,
            **{
                what: known[what] if of_panels is None else of_panels.get(name)
                for what, of_panels in more.items()
            },
        )
        for name, part in parts.items()
    }


def _files(folder: Path) -> dict[str, Path]:
    """The tables of a folder by the names of their panels."""
    if not folder.is_dir():
        raise InputError(
            f'"{folder}" is not a folder of tables; name the column that tells panels apart with '
            "--by, or a folder with one table for each panel."
        )
    found: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix not in ENDINGS or file.name.startswith("."):
            continue
        if file.stem in found:
            raise InputError(
                f'"{file.name}" and "{found[file.stem].name}" in folder "{folder}" are both '
                f'panel "{file.stem}"; rename one of them.'
            )
        found[file.stem] = file
    if not found:
        raise InputError(
            f'folder "{folder}" has no table that ends with {" or ".join(ENDINGS)}; name another.'
        )
    return found


def _read(table: PanelOptions, file: Path, known: dict[str, pl.DataFrame | None]) -> "Panel":
    return table.panel_of(read_table(file), **known)


def _parts(table: pl.DataFrame, by: str, keys: tuple[str, ...]) -> dict[str, pl.DataFrame]:
    """The rows of every panel; the column that names them goes unless it is a key of theirs."""
    parts = table.partition_by(by, maintain_order=True)
    return {str(part[by][0]): part if by in keys else part.drop(by) for part in parts}
