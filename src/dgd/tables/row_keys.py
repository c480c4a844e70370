"""Rows of many columns as single numbers, so that millions of them are compared at once."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import polars as pl
from jaxtyping import Int

LARGEST_KEY = 2**62
DENSE = 2**24
"""Whole numbers that span no more than this are taken as they are."""


def row_keys(table: pl.DataFrame, columns: Sequence[str]) -> Int[np.ndarray, " row"]:
    """One number per row, the same for two rows where they agree in all `columns`."""
    keys, many = np.zeros(table.height, np.int64), 1
    for column in columns if table.height else ():
        numbers, kinds = _numbered(table[column])
        if many * kinds > LARGEST_KEY:
            keys, many = _renumbered(keys)
        keys *= kinds
        keys += numbers
        many *= kinds
    return keys


def _numbered(column: pl.Series) -> tuple[np.ndarray, int]:
    """Which value stands in each row, from 0 on, and below what number all lie."""
    if column.dtype == pl.String:
        distinct = column.unique().drop_nulls()
        places = column.cast(pl.Enum(distinct)).to_physical()
        return places.fill_null(len(distinct)).to_numpy(), len(distinct) + 1
    if column.dtype.is_integer() or column.dtype in (pl.Boolean, pl.Date):
        span = _span(column)
        if 0 < span <= DENSE:
            numbers = column.to_physical().to_numpy()
            signed = numbers if numbers.dtype.kind == "u" else numbers.astype(np.int64)
            return (signed - signed.min()).astype(np.int64), span
    distinct = column.unique()
    places = pl.Series(range(len(distinct)), dtype=pl.Int64)
    return column.replace_strict(distinct, places, return_dtype=pl.Int64).to_numpy(), len(distinct)


def _span(column: pl.Series) -> int:
    """How many whole numbers lie from the least to the largest; 0 where some are missing."""
    if len(column) == 0 or column.null_count():
        return 0
    least, most = (cast(int, x) for x in (column.to_physical().min(), column.to_physical().max()))
    return int(most) - int(least) + 1


def _renumbered(keys: np.ndarray) -> tuple[np.ndarray, int]:
    """The same keys by small numbers."""
    distinct, places = np.unique(keys, return_inverse=True)
    return places.astype(np.int64), len(distinct)
