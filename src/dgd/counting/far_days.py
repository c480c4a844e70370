"""Days so far from ours that a typing error is behind them: 0022-04-21, 9999-12-31."""

from datetime import date

import polars as pl

from dgd.counting.engines import rows_in
from dgd.counting.local_time import FIRST_YEAR, LAST_YEAR
from dgd.counting.pattern_groups import DAY
from dgd.counting.refusals import plural
from dgd.errors import InputError


def refuse_far_days(groups: pl.DataFrame, column: str) -> None:
    """Raise for days outside the years that any time must fall into.

    One of them would stretch a panel over thousands of years without an event.
    """
    inside = pl.col(DAY).is_between(date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31))
    far = groups.filter(~inside)
    if far.height:
        first = far[DAY].sort()[0]
        raise InputError(
            f"events column {column}: {first} is not between {FIRST_YEAR} and "
            f"{LAST_YEAR}, in {plural(rows_in(far))}; correct it, or leave it out with start= or "
            "end=."
        )
