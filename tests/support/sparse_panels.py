"""Panels of many units with few arrivals, drawn without any model."""

from typing import Any

import numpy as np

from dgd import Panel
from dgd.panel.grids import Columns
from dgd.panel.pattern_counts import PatternCounts
from dgd.tables.periods import period_named


def sparse_panel(
    units: int,
    cohorts: int = 3,
    behaviors: int = 3,
    days: int = 20,
    rate: float = 0.3,
    seed: int = 0,
    **changes: Any,
) -> Panel:
    """Units differ in how many arrive, and in what these do; cohorts likewise."""
    rng = np.random.default_rng(seed)
    level = rng.gamma(2.0, rate / 2.0, units)[:, None] * rng.uniform(0.5, 1.5, cohorts)
    week = 1 + 0.3 * np.sin(2 * np.pi * np.arange(days) / 7)
    arrivals = rng.poisson(week[:, None, None] * level)
    day, unit, cohort = np.repeat(np.argwhere(arrivals), arrivals[arrivals > 0], 0).T
    own = 0.5 * rng.normal(size=(units, behaviors)) - 0.5
    odds = own[unit] + 0.5 * rng.normal(size=(cohorts, behaviors))[cohort]
    shown = rng.random((len(day), behaviors)) < 1 / (1 + np.exp(-odds))
    pattern = shown @ (1 << np.arange(behaviors))
    shape = (days, units, cohorts, 2**behaviors)
    period = period_named("day")
    facts: dict[str, Any] = {
        "counts": PatternCounts.of_rows(shape, day, unit, cohort, pattern, np.ones_like(day)),
        "size": np.broadcast_to(1.0, shape[:3]),
        "effort": np.broadcast_to(1.0, shape[:3]),
        "features": np.zeros((*shape[:3], 0)),
        "known_dates": period.range(np.datetime64("2024-01-01"), days),
        "units": tuple(range(units)),
        "cohorts": tuple(f"cohort {number}" for number in range(cohorts)),
        "behaviors": tuple(f"does {number}" for number in range(behaviors)),
        "feature_names": (),
        "period": period,
        "sized": False,
        "has_effort": False,
        "columns": Columns("date", "unit", "cohort", "count"),
        "kind": "polars",
    }
    return Panel(**{**facts, **changes})
