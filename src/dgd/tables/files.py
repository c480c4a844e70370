"""Tables as files, CSV or Parquet, told apart by their endings.

A CSV file holds text: columns are handed on as they are written, and whoever needs numbers
or dates reads them from the text. Labels keep their zeros and points that way.
"""

import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from dgd.errors import InputError, first_line
from dgd.files.atomic import check_target, write_atomically
from dgd.tables.digest import table_digest
from dgd.tables.refusing import refuse_repeated

ENDINGS = (".csv", ".parquet")
DIGEST = "dgd digest"
"""Under which name a Parquet file keeps the digest of its table."""
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeError)
"""What reading a damaged file raises."""


def read_table(path: Path) -> pl.DataFrame:
    """The table in a CSV or Parquet file."""
    if not os.path.isfile(path):  # unlike the path's own, it takes names too long for any file
        what = "is not a file" if os.path.exists(path) else "does not exist"
        raise InputError(f'file "{path}" {what}; check the path.')
    if path.suffix not in (".txt", *ENDINGS):
        raise InputError(f'file "{path}" is neither .csv nor .parquet; convert it first.')
    try:
        return _read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)
    except UNREADABLE as error:
        raise InputError(
            f'file "{path}" cannot be read as a table: {first_line(error)}.'
        ) from error


def _read_csv(path: Path) -> pl.DataFrame:
    header = pl.read_csv(path, has_header=False, n_rows=1, infer_schema=False, glob=False)
    refuse_repeated([name for name in header.row(0) if name], f'the header of file "{path}"')
    return pl.read_csv(path, infer_schema=False, glob=False)


def _read_parquet(path: Path) -> pl.DataFrame:
    table = pl.read_parquet(path, glob=False)
    written = pl.read_parquet_metadata(path).get(DIGEST)
    if written is not None and written != table_digest(table):
        raise InputError(
            f'file "{path}" has changed since dgd wrote it: its digest does not match its rows; '
            "copy it again or count again."
        )
    return table


def read_optional(path: Path | None) -> pl.DataFrame | None:
    """The table where a file was named."""
    return None if path is None else read_table(path)


def check_table_target(path: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse before any work a file that no table could be written to after it."""
    if path.suffix not in ENDINGS:
        raise InputError(f'output "{path}" is neither .csv nor .parquet; choose one of these.')
    check_target(path, inputs)


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a CSV or Parquet file, whole or not at all."""
    if path.suffix not in ENDINGS:
        raise InputError(f'output "{path}" is neither .csv nor .parquet; choose one of these.')
    content: Any = io.BytesIO()
    if path.suffix == ".parquet":
        table.write_parquet(content, metadata={DIGEST: table_digest(table)})
    else:
        table.write_csv(content)
    write_atomically(path, content.getvalue())
