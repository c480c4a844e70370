"""Four weeks of small counts: two to train, one to validate, one to test."""

import numpy as np
import polars as pl

from dgd import Panel

ENDS = {"train_end": "2024-01-14", "validation_end": "2024-01-21"}


def panel_of(days: int, seed: int = 1) -> Panel:
    """Two units, two cohorts, two behaviours."""
    rng = np.random.default_rng(seed)
    dates = (np.datetime64("2024-01-01") + np.arange(days)).tolist()
    rows = [
        {"date": d, "unit": u, "cohort": c, "click": y & 1, "like": y >> 1, "count": n}
        for d in dates
        for u in ("north", "south")
        for c in ("new", "old")
        for y, n in enumerate(rng.poisson(3, 4).tolist())
    ]
    return Panel.from_counts(pl.DataFrame(rows), behaviors=["click", "like"])
