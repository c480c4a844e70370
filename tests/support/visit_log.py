"""A small log of visits, with what every engine must treat alike: odd units, gaps, late hours."""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl

from dgd import Clock

CLOCK = Clock("at", timezone="Europe/Berlin")
BEHAVIORS = ["click", "like"]


def visits(rows: int = 900, units: int = 23, seed: int = 1) -> pl.DataFrame:
    """Visits of 12 days; some without a cohort."""
    rng = np.random.default_rng(seed)
    begin = datetime(2022, 3, 20, tzinfo=UTC)
    minutes = rng.integers(0, 12 * 24 * 60, rows)
    group = rng.integers(0, 4, rows)
    return pl.DataFrame(
        {
            "at": pl.Series(
                [begin + timedelta(minutes=int(m)) for m in minutes], dtype=pl.Datetime("us", "UTC")
            ),
            "shop": [
                f"\N{LATIN SMALL LETTER U WITH DIAERESIS}'{i}" for i in rng.integers(0, units, rows)
            ],
            "number": rng.integers(-3, units, rows),
            "group": [None if g == 3 else "abc"[g] for g in group],
            "place": (rng.integers(0, 3, rows) / 2).astype(str),
            "click": rng.random(rows) < 0.4,
            "like": rng.integers(0, 2, rows),
        }
    )


def options(**more: object) -> dict[str, object]:
    """How the visits are counted."""
    return {
        "unit": "shop",
        "cohort": "group",
        "behaviors": BEHAVIORS,
        "missing": "unknown",
        "end": "2022-03-31",
        **more,
    }
