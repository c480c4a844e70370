"""Tables as files, CSV or Parquet, told apart by their endings."""

import io
from pathlib import Path

import polars as pl

from dgd.errors import InputError
from dgd.files.atomic import check_target, write_atomically

ENDINGS = (".csv", ".parquet")


def read_table(path: Path) -> pl.DataFrame:
    """The table in a CSV or Parquet file."""
    if not path.is_file():
        raise InputError(f'file "{path}" does not exist; check the path.')
    try:
        if path.suffix == ".parquet":
            return pl.read_parquet(path)
        if path.suffix in (".csv", ".txt"):
            return pl.read_csv(path, try_parse_dates=True, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f'file "{path}" cannot be read as a table: {error}.') from error
    raise InputError(f'file "{path}" is neither .csv nor .parquet; convert it first.')


def read_optional(path: Path | None) -> pl.DataFrame | None:
    """The table where a file was named."""
    return None if path is None else read_table(path)


def check_table_target(path: Path) -> None:
    """Refuse before any work a file that no table could be written to after it."""
    if path.suffix not in ENDINGS:
        raise InputError(f'output "{path}" is neither .csv nor .parquet; choose one of these.')
    check_target(path)


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a CSV or Parquet file, whole or not at all."""
    check_table_target(path)
    content = io.BytesIO()
    if path.suffix == ".parquet":
        table.write_parquet(content)
    else:
        table.write_csv(content)
    write_atomically(path, content.getvalue())
