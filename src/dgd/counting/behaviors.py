"""Behaviours as 0/1 codes on any engine, and the sentence about those that are not."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import narwhals as nw

from dgd.counting.engines import collect
from dgd.counting.local_time import plural
from dgd.errors import InputError

NEITHER = 2
"""The code of a behaviour that is neither 0 nor 1."""


def behavior_code(column: str, schema: Mapping[str, Any]) -> nw.Expr:
    """0 or 1 as the behaviour says, and 2 where it is missing or says anything else."""
    value, dtype = nw.col(column), schema[column]
    if dtype == nw.Boolean:
        yes, no = value, ~value
    elif dtype.is_numeric():
        yes, no = value == 1, value == 0
    elif dtype == nw.String:
        yes, no = (value.is_in(_spellings(word)) for word in (("1", "true"), ("0", "false")))
    else:
        yes = no = nw.lit(False)
    digit = [nw.lit(code, dtype=nw.Int32) for code in (0, 1, NEITHER)]
    return nw.when(yes).then(digit[1]).otherwise(nw.when(no).then(digit[0]).otherwise(digit[2]))


def _spellings(words: Sequence[str]) -> list[str]:
    return sorted({form for w in words for form in (w, w.capitalize(), w.upper())})


def refuse_behavior(frame: nw.LazyFrame[Any], name: str, behavior: str) -> None:
    """Raise for the rows of `frame` whose behaviour is neither 0 nor 1, counting them."""
    schema = frame.collect_schema()
    value = nw.col(behavior)
    wrong = frame.filter(behavior_code(behavior, schema) == NEITHER)
    shown = value.cast(nw.String) if schema[behavior] == nw.Boolean else value
    found = collect(
        wrong.select(
            nw.len().alias("rows"),
            value.is_null().cast(nw.Int64).sum().alias("missing"),
            shown.min().alias("example"),
        )
    ).row(0, named=True)
    rows, missing, example = int(found["rows"]), int(found["missing"] or 0), found["example"]
    if rows == missing:
        raise InputError(
            f"{name} column {behavior} is missing in {plural(rows)}; write 1 where the behaviour "
            "showed and 0 where it did not."
        )
    # Some engines skip NaN when they look for the least value, others show it.
    unseen = example is None or (isinstance(example, float) and isnan(example))
    text = "NaN" if unseen else f'"{example}"' if isinstance(example, str) else example
    also = f" (and it is missing in {plural(missing)})" if missing else ""
    raise InputError(
        f"{name} column {behavior}: {text} is neither 0 nor 1, in {plural(rows - missing)}{also}; "
        "write 1 where the behaviour showed and 0 where it did not."
    )
