"""Context columns as numbers, made and checked on a Spark cluster."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import polars as pl

from dgd.counting.count_report import CountReport
from dgd.counting.dialects import Spark
from dgd.counting.engines import ROWS, collect
from dgd.counting.group_keys import refuse_odd_numbers, with_numbers
from dgd.counting.pattern_groups import DAY
from dgd.tables.checks import LARGEST_VALUE

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "decimal")


def number_sql(groups: Any, name: str) -> str:
    """The context as a number, null where its text spells none."""
    quoted, kind = Spark().column(name), dict(groups.dtypes)[name]
    if kind.startswith(NUMBERS):
        return f"CAST({quoted} AS DOUBLE)"
    return f"TRY_CAST(CAST({quoted} AS STRING) AS DOUBLE)"


def refuse_bad_context(groups: Any, context: Sequence[str], account: CountReport) -> None:
    """Raise for context that is missing or no number, or out of range on a day that is kept, as
    any engine does."""
    from pyspark.sql import functions

    kept = f"{Spark().column(DAY)} BETWEEN DATE'{account.first}' AND DATE'{account.last}'"
    for name in context:
        quoted, number = Spark().column(name), number_sql(groups, name)
        wrong = {
            "unread": f"{number} IS NULL AND {quoted} IS NOT NULL",
            "missing": f"{quoted} IS NULL",
            "odd": f"{kept} AND (isnan({number}) OR abs({number}) > {LARGEST_VALUE!r}D)",
        }
        shown = {"unread": f"CAST({quoted} AS STRING)", "missing": "NULL", "odd": number}
        sums = [
            functions.expr(f"{how}(IF({bad}, {what}, NULL))").alias(f"{how} {found}")
            for found, bad in wrong.items()
            for how, what in (("sum", ROWS), ("min", shown[found]))
        ]
        told = collect(nw.from_native(groups.agg(*sums))).row(0, named=True)
        for found in wrong:
            rows = int(told[f"sum {found}"] or 0)
            if rows:
                table = pl.DataFrame({name: [told[f"min {found}"]], ROWS: [rows]})
                with_numbers(table, [name])
                refuse_odd_numbers(table, [name])
