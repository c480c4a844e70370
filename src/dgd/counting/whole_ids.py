"""Ids as whole numbers or texts, each exactly as it was written, or refused."""

from typing import Any, NoReturn

import narwhals as nw
import polars as pl

from dgd.counting.engines import collect, engine_of
from dgd.counting.refusals import plural
from dgd.errors import InputError

EXACT = 2**53
"""From here on a float stands for several whole numbers, so different ids look the same."""
ROW = "__dgd_row__"


def whole_labels(labels: pl.Series, table: str) -> pl.Series:
    """Labels as whole numbers or texts, the same on every engine; NaN is missing.

    Whole numbers that became floats (as pandas does next to missing values)
    turn back into whole numbers, where that is certain.
    """
    kind = labels.dtype
    if kind.is_integer() or isinstance(kind, pl.Decimal):
        whole = labels.cast(pl.Int64, strict=False)
        broken = labels.filter(labels.is_not_null() & (whole.is_null() | (whole != labels)))
        if len(broken):
            raise InputError(
                f"{table} column {labels.name}: {broken[0]} is not a label; use whole numbers of "
                "at most 64 bits or text."
            )
        return whole
    if kind.is_float():
        numbers = labels.cast(pl.Float64).fill_nan(None)
        broken = numbers.filter(numbers.is_not_null() & (numbers != numbers.floor()))
        if len(broken):
            raise InputError(
                f"{table} column {labels.name}: {broken[0]} is not a label; use whole numbers or "
                "text."
            )
        rounded = (numbers.abs() >= EXACT).fill_null(False)
        if rounded.any():
            row = int(rounded.arg_true()[0])
            _refuse_rounded(table, labels.name, numbers[row], f"in row {row + 1}")
        return numbers.cast(pl.Int64)
    return labels.cast(pl.String)


def refuse_rounded_ids(frame: nw.LazyFrame[Any], column: str, table: str) -> None:
    """Raise for a column of floats with ids too large to be told apart, naming the first.

    Costs nothing where the column holds no floats.
    """
    if not frame.collect_schema()[column].is_float():
        return
    native = frame.to_native()
    if engine_of(frame) == "polars":
        numbered: nw.LazyFrame[Any] = nw.from_native(native.with_row_index(ROW))
        found = collect(_rounded(numbered, column).select(ROW, column).head(1))
        if found.height:
            _refuse_rounded(table, column, found[column][0], f"in row {found[ROW][0] + 1}")
        return
    # The rows of a SQL engine have no order, so none of them is the first.
    some = _rounded(frame, column).select(
        nw.len().alias("rows"), nw.col(column).min().alias("least")
    )
    rows, least = collect(some).row(0)
    if rows:
        _refuse_rounded(table, column, least, f"in {plural(int(rows))}")


def _rounded(frame: nw.LazyFrame[Any], column: str) -> nw.LazyFrame[Any]:
    """The rows at fault; engines hold NaN, which is missing, for larger than anything."""
    size = nw.col(column).abs()
    return frame.filter((size >= EXACT) & (size <= nw.lit(float("inf"))))


def _refuse_rounded(table: str, column: str, value: float, where: str) -> NoReturn:
    raise InputError(
        f"{table} column {column}: {value:.0f} {where} is a float too large to tell ids apart "
        f"(2^53 or more), as whole numbers beside a missing one become in pandas; read the column "
        'as text or as "Int64".'
    )
