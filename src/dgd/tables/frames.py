"""Frames of any kind in, frames of the same kind out.

Narwhals tells pandas, Polars, PyArrow, DuckDB and Spark frames apart. Inside,
dgd works in Polars; results go back in the kind the user handed over.
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.errors import InputError, first_line
from dgd.tables.labels import Label

CONVERSION_FAILS = (
    TypeError,
    ValueError,
    OverflowError,
    AttributeError,
    NotImplementedError,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
    nw.exceptions.NarwhalsError,
)
"""What turning a frame into Polars raises where a column holds odd values."""
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
    except nw.exceptions.NarwhalsError as error:
        raise InputError(f"{name} cannot be read: {first_line(error)}.") from error
    implementation = str(known.implementation.value)
    if isinstance(known, nw.LazyFrame):
        kind = "pyarrow" if implementation == "duckdb" else "polars"
        return known.collect("polars").to_native(), kind
    kind = implementation if implementation in EAGER_KINDS else "polars"
    try:
        return known.to_polars(), kind
    except ImportError as error:
        raise InputError(
            f"{name} is a {implementation} frame, which cannot be read without PyArrow; install "
            "pyarrow, or hand over a Polars frame."
        ) from error
    except CONVERSION_FAILS as error:
        raise _odd_column(known, name, error) from error


def _odd_column(frame: nw.DataFrame[Any], name: str, error: BaseException) -> InputError:
    """Which column holds what no typed frame can: values of two kinds, or of none."""
    for column in frame.columns:
        try:
            frame.select(column).to_polars()
        except CONVERSION_FAILS as failure:
            error = failure
        else:
            continue
        values = frame.get_column(column).to_list()
        first = values[0]
        for row, value in enumerate(values, start=1):
            if type(value) is not type(first) and value is not None:
                return InputError(
                    f"{name} row {row}, column {column}: {_short(value)} is "
                    f"{type(value).__name__}, but row 1 holds {_short(first)}, "
                    f"{type(first).__name__}; make all values of the "
                    "column one kind."
                )
        return InputError(
            f"{name}, column {column}: values like {_short(first)} cannot be read "
            f"({first_line(error)}); write numbers, texts or dates."
        )
    return InputError(
        f"{name} cannot be read as typed columns ({first_line(error)}); check its types."
    )


def _short(value: object) -> str:
    return repr(value)[:80]


def from_mapping(given: Mapping[Label, float], name: str, key: str, column: str) -> pl.DataFrame:
    """A table of two columns from `{label: number}`."""
    for label, number in given.items():
        if isinstance(number, bool) or not isinstance(number, Real):
            raise InputError(f"{name} of {key} {label}: {number!r} is not a number; give numbers.")
    kind = pl.Int64 if all(isinstance(label, int) for label in given) else pl.String
    labels = list(given) if kind == pl.Int64 else [str(label) for label in given]
    values = [float(number) for number in given.values()]
    return pl.DataFrame({key: pl.Series(labels, dtype=kind), column: values})


def _as_pandas(table: pl.DataFrame) -> Any:
    """Whole numbers with gaps stay whole numbers, which NumPy would make floats of."""
    import pandas as pd

    def values(column: pl.Series) -> Any:
        if not (column.dtype.is_integer() and column.null_count()):
            return column.to_numpy()
        if column.dtype.is_signed_integer():
            return pd.array(column.to_list(), dtype="Int64")
        return pd.array(column.to_list(), dtype="UInt64")

    return pd.DataFrame({column.name: values(column) for column in table})


def from_polars(table: pl.DataFrame, kind: str) -> Any:
    """Give `table` back as a `kind` frame: "polars", "pandas" or "pyarrow"."""
    if kind == "polars":
        return table
    try:
        if kind == "pandas":
            return _as_pandas(table)
        if kind == "pyarrow":
            return table.to_arrow()
    except ImportError as error:
        raise InputError(
            f"the result was asked for as a {kind} frame, but {kind} is not installed; "
            'install it or ask for kind="polars".'
        ) from error
    raise InputError(f'kind "{kind}" is not known; choose one of {", ".join(EAGER_KINDS)}.')
