"""Data sets on the command line: folders in the place of counts tables."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from dgd.cli.values import names
from dgd.errors import InputError
from dgd.files.folders import refuse_other_folder
from dgd.parts.manifest import MANIFEST, checked_partitions, read_manifest
from dgd.parts.reading import read_data_set
from dgd.tables.files import ENDINGS, read_table

if TYPE_CHECKING:
    from dgd.panel.panel import Panel


def read_counts(path: Path | None) -> pl.DataFrame | None:
    """The counts of a file or of a data set, where one was named."""
    if path is None:
        return None
    return read_data_set(path) if os.path.isdir(path) else read_table(path)


def panel_of_folder(folder: Path, behaviors: str, said: Mapping[str, str], **known: Any) -> "Panel":
    """The panel of a data set, which tells itself how it is to be read.

    Args:
        folder: The data set.
        behaviors: Those wanted, separated by commas.
        said: What the user says of columns, context and period.
        known: Tables and dates for `Panel.from_parquet`.

    Raises:
        InputError: The folder is no data set, or an option says something else of it.
    """
    from dgd.panel.panel import Panel

    manifest = read_manifest(folder)
    theirs = {
        **manifest.columns,
        "context": ",".join(manifest.context),
        "period": manifest.period,
    }
    for name, given in said.items():
        if given.replace(" ", "").strip(",") != theirs[name].replace(" ", ""):
            raise InputError(
                f'{name} is "{given}", but data set "{folder}" has "{theirs[name]}"; leave it out.'
            )
    return Panel.from_parquet(folder, behaviors=names(behaviors), **known)


def check_data_set_target(output: Path, partitions: int, inputs: Iterable[Path]) -> None:
    """Refuse before any work a folder that no data set could be written to after it."""
    checked_partitions(partitions)
    if output.suffix in ENDINGS:
        raise InputError(
            f'output "{output}" ends in {output.suffix}, but partitions go to a folder; name one '
            "without that ending."
        )
    refuse_other_folder(output, MANIFEST)
    place = os.path.realpath(output)
    for given in inputs:
        if os.path.realpath(given).startswith(place + os.sep):
            raise InputError(
                f'output "{output}" holds the input "{given}", which it would replace; name '
                "another folder."
            )
