"""How a table is refused: the row, the column, the value and the way out in one sentence."""

from collections.abc import Sequence

import polars as pl

from dgd.errors import InputError
from dgd.tables.row_keys import row_keys

OWN = "__dgd_"
"""How the names of columns begin that dgd adds to a table while it reads it."""
ROW = f"{OWN}row__"
LONGEST_VALUE = 80


def number_rows(table: pl.DataFrame) -> pl.DataFrame:
    """`table` with the number of every row, counted from 1."""
    taken = [column for column in table.columns if column.startswith(OWN)]
    if taken:
        raise InputError(f'column "{taken[0]}" has a name dgd uses itself; rename that column.')
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


def refuse_other_than_text(given: object, name: str) -> None:
    """Refuse what is no text where the name of a column is meant."""
    if not isinstance(given, str):
        raise InputError(f"{name} is {shown(given)}; give the name of a column.")


def refuse_repeated(names: Sequence[object], name: str) -> None:
    seen: set[object] = set()
    for one in names:
        if one in seen:
            raise InputError(f'{name} names "{one}" twice; name each once.')
        seen.add(one)


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
    if not table.select(bad.any()).item():
        return
    rows = table.filter(bad)
    if rows.height == 0:
        return
    first = rows.row(0, named=True)
    row = ", ".join([f"row {first[ROW]}", *(f"{key} {first[key]}" for key in keys)])
    more = f" (and {rows.height - 1} more rows)" if rows.height > 1 else ""
    raise InputError(f"{name} {row}, column {column}: {shown(first[column])}{more} {way_out}")


def shown(value: object) -> str:
    """A value as a message shows it, never more than a line of it."""
    if value is None:
        return "missing"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def refuse_duplicates(
    table: pl.DataFrame,
    name: str,
    keys: Sequence[str],
    what: str,
    otherwise: str = "add them up or drop one before handing the table over",
    alike: Sequence[str] | None = None,
) -> None:
    """Raise when two rows speak of the same cell.

    Where there are fewer columns that agree whenever `keys` do, `alike` names them.
    """
    numbers = pl.Series(row_keys(table, keys if alike is None else alike))
    if numbers.n_unique() == table.height:
        return
    twice = table.filter(numbers.is_duplicated()).group_by(keys).agg(pl.col(ROW))
    first = twice.sort(pl.col(ROW).list.min()).row(0, named=True)
    rows = sorted(first[ROW])
    cell = ", ".join(f"{key} {first[key]}" for key in keys)
    differ = _differing(table, rows[:2], keys)
    apart = f", told apart by {differ}" if differ else ""
    raise InputError(
        f"{name} rows {rows[0]} and {rows[1]} both give {what} for {cell}{apart}; {otherwise}."
    )


def _differing(table: pl.DataFrame, rows: Sequence[int], keys: Sequence[str]) -> str:
    """The other columns in which two rows differ, but for numbers that may simply be theirs."""
    two = table.filter(pl.col(ROW).is_in(list(rows)))
    return ", ".join(
        column
        for column in table.columns
        if column not in keys and not column.startswith(OWN) and two[column].n_unique() > 1
    )
