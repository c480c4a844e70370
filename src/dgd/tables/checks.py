"""A user's tables read column by column, refusing what cannot be right.

Each reader returns clean Polars columns or raises an `InputError` that names
the row, the column, the value and the way out. Nothing is dropped or repaired.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from dgd.errors import InputError
from dgd.tables.periods import Period

MAX_BEHAVIORS = 12
ROW = "__dgd_row__"
LARGEST_COUNT = 2**53
"""Whole numbers are exact in floating point up to here."""


def number_rows(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_row_index(ROW, offset=1)


def refuse_empty(
    table: pl.DataFrame, name: str, way_out: str = "fill it in or leave it out"
) -> None:
    if table.height == 0:
        raise InputError(f"{name} has no rows; {way_out}.")


def require_columns(table: pl.DataFrame, name: str, columns: Sequence[str]) -> None:
    missing = [column for column in columns if column not in table.columns]
    if missing:
        present = ", ".join(column for column in table.columns if column != ROW)
        raise InputError(
            f'{name} has no column "{missing[0]}"; its columns are {present}: '
            "rename one of them or name the right one."
        )


def refuse_text(given: object, name: str) -> None:
    """Refuse a text where a list of names is meant, before its letters are taken for names."""
    if isinstance(given, str):
        raise InputError(f'{name} is the text "{given}"; give a list, ["{given}"].')


def refuse_repeated(names: Sequence[str], name: str) -> None:
    repeated = [column for column in names if list(names).count(column) > 1]
    if repeated:
        raise InputError(f'{name} names "{repeated[0]}" twice; name each column once.')


def refuse(
    table: pl.DataFrame,
    name: str,
    column: str,
    bad: pl.Expr,
    way_out: str,
    keys: Sequence[str] = (),
) -> None:
    """Raise for the first row where `bad` holds, saying how many more there are.

    The row is named by its number and by what it has in the columns of `keys`.
    """
    rows = table.filter(bad)
    if rows.height == 0:
        return
    first = rows.row(0, named=True)
    row = ", ".join([f"row {first[ROW]}", *(f"{key} {first[key]}" for key in keys)])
    value = first[column]
    shown = "missing" if value is None else f'"{value}"' if isinstance(value, str) else value
    more = f" (and {rows.height - 1} more rows)" if rows.height > 1 else ""
    raise InputError(f"{name} {row}, column {column}: {shown}{more} {way_out}")


def read_dates(table: pl.DataFrame, name: str, column: str, period: Period) -> pl.DataFrame:
    """Turn `column` into moments of `period`: dates, or naive datetimes for hours."""
    require_columns(table, name, [column])
    dtype = table.schema[column]
    raw = pl.col(column)
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        table = table.with_columns(raw.dt.replace_time_zone(None))
    elif dtype == pl.String:
        parsed = pl.coalesce(
            raw.str.to_datetime("%Y-%m-%d", strict=False, time_unit="us"),
            raw.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us"),
            raw.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False, time_unit="us"),
            raw.str.to_datetime("%Y-%m-%d %H:%M", strict=False, time_unit="us"),
        )
        not_a_date = "is not a date; write dates like 2022-04-21."
        refuse(table, name, column, parsed.is_null(), not_a_date)
        table = table.with_columns(parsed.alias(column))
    elif dtype != pl.Date and not isinstance(dtype, pl.Datetime):
        refuse(table, name, column, pl.lit(True), "is not a date; write dates like 2022-04-21.")
    refuse(table, name, column, raw.is_null(), "is not a date; fill it in or drop the row.")
    moments = pl.col(column).cast(pl.Datetime("us"))
    start = moments.dt.truncate("1h" if period.unit == "h" else "1d")
    refuse(
        table, name, column, moments != start,
        f"is not the start of {_a(period)}; sum the counts per {period.name} first.",
    )  # fmt: skip
    return table.with_columns(start.cast(period.series("", np.array([], "M8[D]")).dtype))


def _a(period: Period) -> str:
    return f"an {period.name}" if period.name == "hour" else f"a {period.name}"


def read_labels(table: pl.DataFrame, name: str, column: str) -> None:
    require_columns(table, name, [column])
    refuse(
        table, name, column, pl.col(column).is_null(),
        'is not a label; name it (for example "unknown") or drop the row.',
    )  # fmt: skip


def read_behaviors(table: pl.DataFrame, name: str, behaviors: Sequence[str]) -> pl.DataFrame:
    """Check the 0/1 columns and add their pattern number, the sum of y_h 2^h."""
    check_behavior_names(behaviors)
    require_columns(table, name, behaviors)
    for column in behaviors:
        way_out = "is neither 0 nor 1; write 1 where the behaviour showed."
        refuse(table, name, column, neither_0_nor_1(table, column), way_out)
    powers = [pl.col(column).cast(pl.Int64) * 2**h for h, column in enumerate(behaviors)]
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
    return table.with_columns(value.cast(pl.Int64))


def refuse_duplicates(table: pl.DataFrame, name: str, keys: Sequence[str], what: str) -> None:
    """Raise when two rows speak of the same cell."""
    twice = table.group_by(keys).agg(pl.col(ROW)).filter(pl.col(ROW).list.len() > 1)
    if twice.height == 0:
        return
    first = twice.sort(pl.col(ROW).list.first()).row(0, named=True)
    rows = sorted(first[ROW])
    cell = ", ".join(f"{key} {first[key]}" for key in keys)
    raise InputError(
        f"{name} rows {rows[0]} and {rows[1]} both give {what} for {cell}; "
        "add them up or drop one before handing the table over."
    )


def read_values(
    table: pl.DataFrame, name: str, column: str, keys: Sequence[str] = ()
) -> pl.DataFrame:
    """A finite number in every row of `column`; `keys` name a row beside its number."""
    require_columns(table, name, [column])
    dtype = table.schema[column]
    if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
        refuse(table, name, column, pl.lit(True), "is not a number; encode it as numbers.", keys)
    value = pl.col(column).cast(pl.Float64)
    bad = value.is_null() | ~value.is_finite()
    refuse(table, name, column, bad, "is not a finite number; fill it in or drop the row.", keys)
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
    the grid that the table's own keys span must be given exactly once.
    """
    present = [key for key in keys if key in table.columns]
    refuse_duplicates(table, name, present, "a value")
    indexed = table
    for key in present:
        axis = pl.DataFrame(
            {
                key: pl.Series(list(keys[key])).cast(table.schema[key], strict=False),
                f"{key} index": range(len(keys[key])),
            }
        )
        indexed = indexed.join(axis, on=key, how="left", maintain_order="left")
        if key != date_key:
            refuse(
                indexed, name, key, pl.col(f"{key} index").is_null(),
                "is not in the counts; correct the label or drop the row.",
            )  # fmt: skip
        else:
            indexed = indexed.filter(pl.col(f"{key} index").is_not_null())
    shape = [len(keys[key]) if key in present else 1 for key in keys]
    values = np.full([*shape, len(columns)], np.nan)
    indices = tuple(indexed[f"{key} index"].to_numpy() if key in present else 0 for key in keys)
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
