"""Values that a column, an argument or a fact may hold by accident or by design."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

NUMBERS: list[Any] = [
    -1, 0, 2, 0.5, -0.0, 2**53 + 1, 2**63, 2**64 + 1, -(2**70), 10**400, 1e16, 1e300, 1e-300,
    float("inf"), float("-inf"), float("nan"), 1 + 2j, True, np.int8(3), np.float32(0.1),
    Decimal("1.5"), Decimal("NaN"), Decimal("1e40"), Fraction(1, 3),
]  # fmt: skip
TEXTS: list[Any] = [
    "", " ", "007", "1e5", "1.10", "1,000", "1.000", "1e999", "-3", "nan", "inf", "None", "true",
    "yes", "\0", "a\nb", "a\u202eb", "\ud800", "x" * 100_000, "{}[bold]", "\N{PILE OF POO}",
]  # fmt: skip
DATES: list[Any] = [
    date(1, 1, 1), date(9999, 12, 31), date(22, 4, 1), datetime(2022, 4, 1, 13, 30),
    datetime(2022, 4, 1, tzinfo=UTC), np.datetime64("NaT"), np.datetime64("2022"), pd.NaT,
    np.datetime64(2**62, "s"), pd.Timestamp.max, time(12), timedelta(days=1), "22-04-01",
    "01/04/22", "0022-04-01", "99999-01-01", "2022-02-30", "2022-04-01T25:00", "2022-04-01+02:00",
    "-2022-04-01", "2022-13-01", "2022-04-01T00:00:00.0000000001",
]  # fmt: skip
THINGS: list[Any] = [
    None, pd.NA, b"\xff\0", [1, 2], [], {"a": 1}, {}, (), (1, "a"), {1}, range(3), object(),
    np.zeros(3), np.zeros((2, 2)), np.array(3), int, len, [[]], ["a", "a"], [None], [1.5],
]  # fmt: skip
ODD = [*NUMBERS, *TEXTS, *DATES, *THINGS]
NAMES: list[Any] = [
    "__dgd_row__", "__dgd_label__", "__dgd_0__", "pattern", "size", "effort", "arrivals", "seed",
    "unit", "cohort", "date", "count", "click", "like", "", " ", "a\nb", "\ud800", "absent",
    "x" * 5000, 5, None, (1, 2), float("nan"),
]  # fmt: skip


def any_of(rng: np.random.Generator, values: Any) -> Any:
    """One of `values`, never turned into an array."""
    return values[int(rng.integers(len(values)))]


def shown(value: object) -> str:
    return ascii(value)[:60]
