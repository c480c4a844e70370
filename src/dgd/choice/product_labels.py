"""Product labels in result tables: as the user's table has them, with buying nothing beside them.

Where labels are texts, buying nothing is called "outside"; where they are whole numbers its label
is missing, so that the column stays one of whole numbers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Int

from dgd.choice.offer_table import OUTSIDE
from dgd.tables.labels import Label

LARGEST_SIGNED = 2**63 - 1
"""Beyond it whole numbers need a column without a sign."""


def are_numbers(labels: Sequence[Label]) -> bool:
    """Whether labels are whole numbers; those of a table are all of one kind."""
    return all(isinstance(label, int) for label in labels)


def label_column(
    name: str, labels: Sequence[Label], places: Int[np.ndarray, " row"], outside: int = 0
) -> pl.Series:
    """The labels at `places`, then `outside` rows for buying nothing."""
    found: list[Any] = [labels[place] for place in places]
    if not are_numbers(labels):
        return pl.Series(name, [*found, *[OUTSIDE] * outside], pl.String)
    kind = pl.UInt64 if max(map(int, labels)) > LARGEST_SIGNED else pl.Int64
    return pl.Series(name, [*found, *[None] * outside], kind)


def is_outside(column: str, labels: Sequence[Label]) -> pl.Expr:
    """Where a column of products speaks of buying nothing."""
    return pl.col(column).is_null() if are_numbers(labels) else pl.col(column) == OUTSIDE


def outside_named(table: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """A table of results for people to read: buying nothing has its name in `columns`."""
    gaps = [name for name in columns if table[name].null_count()]
    return table.with_columns(pl.col(gaps).cast(pl.String).fill_null(OUTSIDE))
