"""Frames of any kind in, frames of the same kind out.

Narwhals tells pandas, Polars, PyArrow, DuckDB and Spark frames apart. Inside,
dgd works in Polars; results go back in the kind the user handed over.
"""

from typing import Any

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.errors import InputError

EAGER_KINDS = ("polars", "pandas", "pyarrow")


def to_polars(frame: IntoFrame, name: str) -> tuple[pl.DataFrame, str]:
    """Read `frame` into Polars, and say which kind its results should have.

    Lazy frames are collected here, so hand over aggregated tables; their
    results come back as Polars (DuckDB: PyArrow).
    """
    try:
        known = nw.from_native(frame)
    except TypeError as error:
        raise InputError(
            f"{name}: a {type(frame).__name__} is not a table; hand over a pandas, Polars, "
            "PyArrow, DuckDB or Spark frame."
        ) from error
    implementation = str(known.implementation.value)
    if isinstance(known, nw.LazyFrame):
        kind = "pyarrow" if implementation == "duckdb" else "polars"
        return known.collect("polars").to_native(), kind
    kind = implementation if implementation in EAGER_KINDS else "polars"
    try:
        return known.to_polars(), kind
    except (TypeError, ValueError) as error:
        raise _mixed_column(known, name) from error


def _mixed_column(frame: nw.DataFrame[Any], name: str) -> InputError:
    """Which column holds values of two kinds, as pandas allows and no typed frame can."""
    for column in frame.columns:
        values = frame.get_column(column).to_list()
        first = values[0]
        for row, value in enumerate(values, start=1):
            if type(value) is not type(first) and value is not None:
                return InputError(
                    f"{name} row {row}, column {column}: {value!r} is {type(value).__name__}, "
                    f"but row 1 holds {first!r}, {type(first).__name__}; make all values of the "
                    "column one kind."
                )
    return InputError(f"{name} cannot be read as a table of typed columns; check its types.")


def from_polars(table: pl.DataFrame, kind: str) -> Any:
    """Give `table` back as a `kind` frame: "polars", "pandas" or "pyarrow"."""
    if kind == "polars":
        return table
    try:
        if kind == "pandas":
            import pandas as pd

            return pd.DataFrame({column.name: column.to_numpy() for column in table})
        if kind == "pyarrow":
            return table.to_arrow()
    except ImportError as error:
        raise InputError(
            f"the result was asked for as a {kind} frame, but {kind} is not installed; "
            'install it or ask for kind="polars".'
        ) from error
    raise InputError(f'kind "{kind}" is not known; choose one of {", ".join(EAGER_KINDS)}.')
