"""What a table holds, before any judgement."""

from typing import Any

import numpy as np

from dgd.panel.pattern_counts import PatternCounts
from dgd.tables.periods import Period


def facts_of(counts: PatternCounts, dates: np.ndarray, period: Period) -> dict[str, Any]:
    """Dates, gaps, cells, arrivals and joint patterns, by names that people can read."""
    arrivals = counts.arrivals()
    daily, of_cell = arrivals.sum((1, 2)), arrivals.sum(0)
    name = period.name
    return {
        "first": str(dates[0]),
        "last": str(dates[-1]),
        f"{name}s": len(dates),
        f"{name}s without arrivals": int((daily == 0).sum()),
        "longest gap": _longest_run(daily == 0),
        "units": arrivals.shape[1],
        "cohorts": arrivals.shape[2],
        "cells": of_cell.size,
        "cells without arrivals": int((of_cell == 0).sum()),
        "arrivals": int(daily.sum()),
        f"arrivals a {name}": float(daily.mean()),
        f"median arrivals a cell and {name}": float(np.median(arrivals)),
        "joint patterns seen": len(np.unique(counts.pattern)),
        "joint patterns possible": counts.shape[-1],
    }


def _longest_run(marked: np.ndarray) -> int:
    """The most consecutive periods that are marked."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]]).astype(np.int8)))
    return int((edges[1::2] - edges[::2]).max(initial=0))
