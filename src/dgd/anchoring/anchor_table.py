"""What the forecasts of a fit are made of, as a table for people."""

import numpy as np
import polars as pl

from dgd.anchoring.anchor import Anchor
from dgd.anchoring.levels import Level

WHOSE: dict[Level, str] = {
    "all": "that all share",
    "cohort": "that cohorts share",
    "unit": "of units",
    "cell": "of cells",
}
"""Whose movements a layer follows, by the last level in it."""


def anchor_table(anchor: Anchor) -> pl.DataFrame:
    """One row per part and figure, for forecasts one day ahead; of very many units nothing is
    followed that single units or cells do by themselves."""
    rows: list[tuple[str, str, float]] = []
    if anchor.patterns is not None:
        own = anchor.patterns
        chains = own.chain_shares
        half_life = np.exp(chains @ np.log([chain.cell_half_life for chain in own.chains]))
        strength = np.exp(chains @ np.log([chain.cell_strength for chain in own.chains]))
        rows += [
            ("joint patterns", "share of the model", anchor.pattern_share),
            ("joint patterns", "half-life of a cell's counts", float(half_life)),
            ("joint patterns", "arrivals that its neighbours weigh", float(strength)),
        ]
        for layer in own.layers:
            whose = WHOSE[layer.tilts[-1].level]
            heard = list(zip(layer.tilts, layer.shares[0, 1:], strict=True))
            swings = sum(share for tilt, share in heard if tilt.lasting > 0)
            weekdays = sum(share for tilt, share in heard if tilt.weekday > 0)
            rows.append(("joint patterns", f"weight of swings {whose}", float(swings)))
            if any(tilt.weekday > 0 for tilt in layer.tilts):
                rows.append(("joint patterns", f"weight of weekdays {whose}", float(weekdays)))
        if own.of_everyone:
            silent: tuple[Level, ...] = ("unit", "cell")
            rows += [("joint patterns", f"weight of swings {WHOSE[of]}", 0.0) for of in silent]
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
