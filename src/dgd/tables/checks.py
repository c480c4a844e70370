"""A user's tables read column by column, refusing what cannot be right.

Each reader returns clean Polars columns or raises an `InputError` that names
the row, the column, the value and the way out. Nothing is dropped or repaired.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from dgd.errors import InputError
from dgd.tables.numbers import spelled_out, yes_or_no
from dgd.tables.refusing import (
    OWN,
    refuse,
    refuse_duplicates,
    refuse_repeated,
    refuse_text,
    require_columns,
)

MAX_BEHAVIORS = 12
LARGEST_COUNT = 2**53
"""Whole numbers are exact in floating point up to here."""
LARGEST_VALUE = 1e15
"""The largest feature, price or attribute; beyond it squares and sums lose their digits."""


def read_labels(table: pl.DataFrame, name: str, column: str) -> None:
    """Refuse what is missing, and what is no name for anything."""
    require_columns(table, name, [column])
    dtype, value = table.schema[column], pl.col(column)
    refuse(
        table, name, column, value.is_null(),
        'is not a label; name it (for example "unknown") or drop the row.',
    )  # fmt: skip
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
        refuse(table, name, column, pl.lit(True), "is not a label; write texts or whole numbers.")
    if dtype.is_float():
        refuse(
            table, name, column, ~value.is_finite() | (value.abs() >= LARGEST_COUNT),
            "is a number with a point, which merges long ids; hand labels over as text.",
        )  # fmt: skip


def read_behaviors(table: pl.DataFrame, name: str, behaviors: Sequence[str]) -> pl.DataFrame:
    """Check the 0/1 columns and add their pattern number, the sum of y_h 2^h."""
    check_behavior_names(behaviors)
    require_columns(table, name, behaviors)
    for column in behaviors:
        way_out = "is neither 0 nor 1; write 1 where the behaviour showed."
        table = yes_or_no(table, column)
        refuse(table, name, column, neither_0_nor_1(table, column), way_out)
    powers = [pl.col(column).cast(pl.Int32) * 2**h for h, column in enumerate(behaviors)]
    return table.with_columns(pl.sum_horizontal(powers).alias("pattern"))


def neither_0_nor_1(table: pl.DataFrame, column: str) -> pl.Expr:
    """Where `column` holds anything but yes or no."""
    dtype, value = table.schema[column], pl.col(column)
    if dtype == pl.Boolean:
        return value.is_null()
    if dtype.is_numeric():
        return value.is_null() | ((value != 0) & (value != 1))
    return pl.lit(True)


def check_behavior_names(behaviors: Sequence[str]) -> None:
    refuse_text(behaviors, "behaviors")
    if not isinstance(behaviors, Sequence) or not all(isinstance(b, str) for b in behaviors):
        raise InputError(f'behaviors is {behaviors!r}; give a list of names like ["click"].')
    if not behaviors:
        raise InputError("behaviors is empty; name at least one 0/1 column.")
    if len(behaviors) > MAX_BEHAVIORS:
        raise InputError(
            f"behaviors names {len(behaviors)} columns, {2 ** len(behaviors)} joint patterns; "
            f"at most {MAX_BEHAVIORS} can be enumerated: leave out or merge the rarest."
        )
    refuse_repeated(behaviors, "behaviors")


def read_counts(
    table: pl.DataFrame, name: str, column: str, keys: Sequence[str] = ()
) -> pl.DataFrame:
    """A whole count in every row of `column`; `keys` name a row beside its number."""
    require_columns(table, name, [column])
    table = spelled_out(table, name, column, "write whole counts.", keys)
    dtype = table.schema[column]
    if not dtype.is_numeric():
        refuse(table, name, column, pl.lit(True), "is not a number; write whole counts.", keys)
    value = pl.col(column)
    if dtype.is_decimal():
        table, dtype = table.with_columns(value.cast(pl.Float64)), pl.Float64()
    none = "is not a count; write 0 or drop the row."
    refuse(table, name, column, value.is_null(), none, keys)
    if dtype.is_float():
        refuse(table, name, column, ~value.is_finite(), none, keys)
        broken = "is not whole; counts are whole."
        refuse(table, name, column, value != value.floor(), broken, keys)
    refuse(table, name, column, value < 0, "is negative; counts start at 0.", keys)
    too_large = "is too large to be a count; correct it."
    refuse(table, name, column, value > LARGEST_COUNT, too_large, keys)
    total = table.select(value.cast(pl.Float64).sum()).item()
    if total > LARGEST_COUNT:
        raise InputError(
            f"{name}: column {column} adds up to {total:.3g}, more than can be counted without "
            f"loss ({LARGEST_COUNT:,}); count in thousands."
        )
    return table.with_columns(value.cast(pl.Int64))


def read_values(
    table: pl.DataFrame, name: str, column: str, keys: Sequence[str] = ()
) -> pl.DataFrame:
    """A finite number in every row of `column`; `keys` name a row beside its number."""
    require_columns(table, name, [column])
    table = spelled_out(table, name, column, "encode it as numbers.", keys)
    dtype = table.schema[column]
    if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
        refuse(table, name, column, pl.lit(True), "is not a number; encode it as numbers.", keys)
    value = pl.col(column).cast(pl.Float64)
    bad = value.is_null() | ~value.is_finite()
    refuse(table, name, column, bad, "is not a finite number; fill it in or drop the row.", keys)
    far = "is too large to be computed with; give it in larger units."
    refuse(table, name, column, value.abs() > LARGEST_VALUE, far, keys)
    return table.with_columns(value)


def keyed_values(
    table: pl.DataFrame,
    name: str,
    columns: Sequence[str],
    keys: Mapping[str, Sequence[object]],
    date_key: str | None,
) -> np.ndarray:
    """Spread `columns` over the grid of those `keys` that the table has.

    Returns an array with one axis per key (length 1 where the table lacks the
    key, so that it broadcasts) and a last axis over `columns`. Every cell of
    the grid that the table's own keys span must be given exactly once. Labels
    are compared as they are written: 7 is 7 and "7", never "007".
    """
    present = [key for key in keys if key in table.columns]
    for key in present:
        if key != date_key:
            read_labels(table, name, key)
    refuse_duplicates(table, name, present, "a value")
    index = {key: f"{OWN}{number}__" for number, key in enumerate(present)}
    indexed = table
    for key in present:
        axis = pl.DataFrame(
            {
                f"{OWN}label__": [str(label) for label in keys[key]],
                index[key]: range(len(keys[key])),
            }
        )
        written = [str(label) for label in indexed[key].to_list()]
        indexed = indexed.with_columns(pl.Series(f"{OWN}label__", written, pl.String))
        indexed = indexed.join(axis, on=f"{OWN}label__", how="left", maintain_order="left")
        if key != date_key:
            refuse(
                indexed, name, key, pl.col(index[key]).is_null(),
                "is not in the counts; correct the label or drop the row.",
            )  # fmt: skip
        else:
            indexed = indexed.filter(pl.col(index[key]).is_not_null())
    shape = [len(keys[key]) if key in present else 1 for key in keys]
    values = np.full([*shape, len(columns)], np.nan)
    indices = tuple(indexed[index[key]].to_numpy() if key in present else 0 for key in keys)
    values[indices] = indexed.select(columns).to_numpy()
    holes = np.argwhere(np.isnan(values[..., 0]))
    if len(holes):
        cell = ", ".join(
            f"{key} {keys[key][at]}"
            for key, at in zip(keys, holes[0], strict=True)
            if key in present
        )
        raise InputError(f"{name} says nothing about {cell}; add a row for it.")
    return values
