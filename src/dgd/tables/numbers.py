"""Numbers as tables hold them: typed, or spelled out in the text of a CSV file."""

from collections.abc import Sequence

import polars as pl

from dgd.tables.refusing import refuse

SPELLED = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$"
WHOLE = r"^[+-]?\d{1,18}$"
THOUSANDS = r"^[+-]?\d{1,3}\.000$"


def spelled_out(
    table: pl.DataFrame, name: str, column: str, way_out: str, keys: Sequence[str] = ()
) -> pl.DataFrame:
    """`table` with text in `column` read as the numbers it spells; any other text is refused."""
    if table.schema[column] != pl.String:
        return table
    text = pl.col(column).str.strip_chars()
    wrong = pl.col(column).is_not_null() & ~text.str.contains(SPELLED)
    refuse(table, name, column, wrong, f"is not a number; {way_out}", keys)
    refuse(
        table, name, column, text.str.contains(THOUSANDS),
        "may be thousands or a fraction; write it without the point and zeros.", keys,
    )  # fmt: skip
    whole = table.select((pl.col(column).is_null() | text.str.contains(WHOLE)).all()).item()
    return table.with_columns(text.cast(pl.Int64 if whole else pl.Float64).alias(column))


def yes_or_no(table: pl.DataFrame, column: str) -> pl.DataFrame:
    """`table` with text in `column` that says 0, 1, true or false read as such."""
    if table.schema[column] != pl.String:
        return table
    said = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
    text = pl.col(column).str.strip_chars().str.to_lowercase()
    read = text.replace_strict(said, default=None, return_dtype=pl.Boolean)
    unread = table.select((read.is_null() & pl.col(column).is_not_null()).any()).item()
    return table if unread else table.with_columns(read.alias(column))
