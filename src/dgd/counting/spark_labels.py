"""Units and cohorts as whole numbers or texts, made and checked on a Spark cluster."""

from typing import Any

import narwhals as nw

from dgd.counting.dialects import Spark
from dgd.counting.engines import collect
from dgd.counting.opened_log import OpenedLog
from dgd.counting.whole_ids import whole_labels
from dgd.errors import InputError

WHOLE = ("tinyint", "smallint", "int", "bigint")
TEXT = ("string", "boolean", "date")


def label_sql(groups: Any, name: str, column: str | None) -> tuple[str, bool]:
    """The label as Spark computes it, and whether it is a whole number; NaN is missing.

    Raises:
        InputError: The user's `column` holds what is no label.
    """
    kind, quoted = dict(groups.dtypes)[name], Spark().column(name)
    if kind in WHOLE:
        return f"CAST({quoted} AS BIGINT)", True
    if kind in ("float", "double"):
        return f"TRY_CAST(IF(isnan({quoted}), NULL, {quoted}) AS BIGINT)", True
    if kind.startswith("decimal"):
        return f"TRY_CAST({quoted} AS BIGINT)", True
    if kind in TEXT or kind.startswith(("char", "varchar")):
        return f"CAST({quoted} AS STRING)", False
    raise InputError(
        f"events column {column} holds {kind}, which is no label; use whole numbers or text."
    )


def refuse_broken_units(groups: Any, column: str | None) -> None:
    """Raise for numbers that are no labels, in the words in which any engine does."""
    if column is None or dict(groups.dtypes)["unit"] in (*WHOLE, *TEXT):
        return
    label, whole = label_sql(groups, "unit", column)
    if not whole:
        return
    unit = Spark().column("unit")
    broken = f"{unit} IS NOT NULL AND NOT ({label} <=> {unit}) AND NOT ({unit} <=> double('NaN'))"
    found = collect(nw.from_native(groups.filter(broken).select("unit").limit(1)))
    if found.height:
        whole_labels(found["unit"].alias(column), "events")


def final_label(groups: Any, name: str, log: OpenedLog, text: bool) -> str:
    """The label as SQL, a text or a whole number, missing ones named."""
    column = log.grouping.labels[name]
    if column is None:
        return "'all'"
    label, _ = label_sql(groups, name, column)
    told = f"CAST({label} AS {'STRING' if text else 'BIGINT'})"
    if log.missing is None:
        return told
    if not text:
        return f"coalesce({told}, {int(log.missing)}L)" if isinstance(log.missing, int) else told
    return f"coalesce({told}, {_quoted(str(log.missing))})"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
