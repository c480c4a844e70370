"""Six rows of counts on four days, the panel they make, and how panels are compared."""

from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl

from dgd.panel.panel import Panel

BEHAVIORS = ["click", "like"]
FIRST = date(2022, 4, 1)
ROWS = [
    # day, unit, cohort, click, like, count
    (0, "north", "new", 0, 0, 5),
    (0, "north", "new", 1, 0, 2),
    (0, "south", "old", 1, 1, 4),
    (1, "north", "old", 0, 1, 3),
    (3, "south", "new", 0, 0, 7),
    (3, "south", "new", 1, 1, 1),
]


def day(number: int) -> date:
    return FIRST + timedelta(days=number)


def counts() -> pl.DataFrame:
    names = ["date", "unit", "cohort", *BEHAVIORS, "count"]
    return pl.DataFrame([(day(d), *rest) for d, *rest in ROWS], schema=names, orient="row")


def make(table: Any = None, **options: Any) -> Panel:
    return Panel.from_counts(
        counts() if table is None else table, **{"behaviors": BEHAVIORS, **options}
    )


def assert_same(one: Panel, other: Panel) -> None:
    for grid in ("patterns", "size", "effort", "features", "known_dates"):
        assert np.array_equal(getattr(one, grid), getattr(other, grid)), grid
    for fact in ("units", "cohorts", "behaviors", "feature_names", "period", "special_days"):
        assert getattr(one, fact) == getattr(other, fact), fact


def by_date(name: str, values: list[float], first: int = 0) -> pl.DataFrame:
    """One value a day from day `first` on."""
    days = [day(first + index) for index in range(len(values))]
    return pl.DataFrame({"date": days, name: values})
