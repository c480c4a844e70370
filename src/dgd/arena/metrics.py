"""What the arena is scored by, in the order of its tables."""

import polars as pl

METRICS = {
    "joint_nll": "joint NLL",
    "behavior_count_mae": "behaviour counts (MAE)",
    "arrival_mae": "arrivals (MAE)",
    "arrival_crps": "arrivals (CRPS)",
    "mean_brier": "mean Brier",
}
"""Every metric in words."""

AS_DIFFERENCE = ("joint_nll",)
"""Metrics whose zero means nothing: they are set beside each other by their difference, the
others by their ratio."""


def is_difference() -> pl.Expr:
    return pl.col("metric").is_in(AS_DIFFERENCE)


def in_order() -> pl.Expr:
    """The key that sorts rows by their metric."""
    return pl.col("metric").cast(pl.Enum(list(METRICS)))
