"""What the forecasts of a fit are made of, as a table for people."""

import numpy as np
import polars as pl

from dgd.anchoring.anchor import Anchor


def anchor_table(anchor: Anchor) -> pl.DataFrame:
    """One row per part and figure, for forecasts one day ahead."""
    rows: list[tuple[str, str, float]] = []
    if anchor.patterns is not None:
        own = anchor.patterns
        chains, tilts = own.chain_shares, own.tilt_shares[0, 1:]
        swings = sum(w for w, tilt in zip(tilts, own.tilts, strict=True) if tilt.lasting > 0)
        weekdays = sum(w for w, tilt in zip(tilts, own.tilts, strict=True) if tilt.weekday > 0)
        half_life = np.exp(chains @ np.log([chain.cell_half_life for chain in own.chains]))
        strength = np.exp(chains @ np.log([chain.cell_strength for chain in own.chains]))
        rows += [
            ("joint patterns", "share of the model", anchor.pattern_share),
            ("joint patterns", "half-life of a cell's counts", float(half_life)),
            ("joint patterns", "arrivals that its neighbours weigh", float(strength)),
            ("joint patterns", "weight of swings", float(swings)),
            ("joint patterns", "weight of weekdays", float(weekdays)),
        ]
    if anchor.arrivals is not None:
        rows += [
            ("arrivals", "share of the model", anchor.arrival_share),
            (
                "arrivals",
                "dispersion, median cohort",
                float(np.median(anchor.arrivals.dispersion[0])),
            ),
        ]
    return pl.DataFrame(rows, schema=["part", "figure", "value"], orient="row")
