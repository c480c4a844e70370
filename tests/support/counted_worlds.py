"""Counts of one behaviour whose rate in every period and cell is known."""

import numpy as np
import polars as pl

from dgd.panel.panel import Panel
from dgd.tables.periods import period_named

FIRST = np.datetime64("2022-04-04T00", "h")


def ar1(periods: int, cells: int, persistence: float, seed: int) -> np.ndarray:
    """Movements of variance one that keep `persistence` of themselves."""
    rng = np.random.default_rng(1000 + seed)
    path = [rng.normal(size=cells)]
    for _ in range(periods - 1):
        new = np.sqrt(1.0 - persistence**2) * rng.normal(size=cells)
        path.append(persistence * path[-1] + new)
    return np.stack(path)


def counted(rates: np.ndarray, arrivals: float | np.ndarray, seed: int) -> tuple[np.ndarray, ...]:
    """How many showed the behaviour, and how many arrived, per period and cell."""
    rng = np.random.default_rng(seed)
    came = rng.poisson(np.broadcast_to(arrivals, rates.shape))
    shown = rng.binomial(came, np.clip(rates, 0.0, 1.0))
    return shown.astype(np.float64), came.astype(np.float64)


def panel_of_counts(
    rates: np.ndarray, arrivals: float | np.ndarray, seed: int, period: str = "day"
) -> Panel:
    """The same as a panel whose cells are cohorts of one unit."""
    shown, came = counted(rates, arrivals, seed)
    time = period_named(period)
    dates = time.series("date", time.range(FIRST, len(rates)))
    cohorts = [f"cohort {c}" for c in range(rates.shape[1])]
    table = pl.DataFrame(
        {
            "date": dates.gather(np.repeat(np.arange(len(rates)), 2 * len(cohorts))),
            "unit": "all",
            "cohort": [c for _ in rates for c in cohorts for _ in range(2)],
            "click": np.tile([0, 1], rates.size),
            "count": np.stack([came - shown, shown], -1).ravel().astype(np.int64),
        }
    )
    last = dates[-1]
    return Panel.from_counts(table, behaviors=["click"], period=period, end=last)
