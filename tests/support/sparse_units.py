"""Many units with few arrivals: rates of units by a gamma law, shares by a Dirichlet law."""

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import polars as pl

import dgd

FIRST = date(2024, 1, 1)
SHARES = np.array([0.4, 0.3, 0.2, 0.1])
WEEK = np.array([1.3, 1.0, 1.0, 0.9, 1.1, 1.2, 0.5])


@dataclass(frozen=True, eq=False)
class SparseUnits:
    """A panel drawn from known rates."""

    panel: dgd.Panel
    rates: np.ndarray
    """Expected arrivals of every day, unit and cohort."""


def sparse_units(
    seed: int,
    units: int = 300,
    days: int = 40,
    mean: float = 0.3,
    shape: float = 0.7,
    strength: float = 8.0,
    effort: np.ndarray | None = None,
) -> SparseUnits:
    """`mean` arrivals a cell and day; `shape` of the units' rates, `strength` of their shares."""
    rng = np.random.default_rng(seed)
    cohorts = len(SHARES)
    own = rng.gamma(shape, cohorts * mean / shape, units)[:, None]
    rates = own * rng.dirichlet(strength * SHARES, units)
    daily = WEEK[np.arange(days) % 7][:, None, None] * rates
    dates = [FIRST + timedelta(days=n) for n in range(days)]
    table = None
    if effort is not None:
        daily = daily * effort[:, None, None]
        table = pl.DataFrame({"date": dates, "effort": effort})
    counts = rng.poisson(daily)
    day, unit, cohort = np.nonzero(counts)
    names = [f"unit {n:04}" for n in range(units)], [f"cohort {n}" for n in range(cohorts)]
    rows = pl.DataFrame(
        {
            "date": [dates[n] for n in day],
            "unit": [names[0][n] for n in unit],
            "cohort": [names[1][n] for n in cohort],
            "click": 0,
            "count": counts[day, unit, cohort],
        }
    )
    panel = dgd.Panel.from_counts(
        rows,
        behaviors=["click"],
        units=names[0],
        cohorts=names[1],
        start=dates[0],
        end=dates[-1],
        effort=table,
    )
    return SparseUnits(panel, daily)
