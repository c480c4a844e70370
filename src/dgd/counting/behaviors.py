"""Behaviours as 0/1 codes on any engine, and the sentence about those that are not."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import narwhals as nw

from dgd.counting.refusals import look_at, refuse_missing
from dgd.errors import InputError

NEITHER = 2
"""The code of a behaviour that is neither 0 nor 1."""
WAY_OUT = "write 1 where the behaviour showed and 0 where it did not"


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


def refuse_behavior(frame: nw.LazyFrame[Any], table: str, behavior: str) -> NoReturn:
    """Raise for the rows of `frame` whose behaviour is neither 0 nor 1, counting them."""
    wrong = behavior_code(behavior, frame.collect_schema()) == NEITHER
    bad = look_at(frame.filter(wrong), behavior)
    if bad.rows == bad.missing:
        refuse_missing(table, behavior, bad.missing, WAY_OUT)
    raise InputError(
        f"{table} column {behavior}: {bad.shown} is neither 0 nor 1, {bad.counted}; {WAY_OUT}."
    )
