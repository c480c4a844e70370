"""Scores as people read them, in the shell and in a notebook: a model a row."""

import polars as pl

SHOWN = {
    "joint_nll": "joint NLL",
    "mean_brier": "Brier",
    "cohort_rate_mae": "cohort rates (pp)",
    "pair_mae": "pairs (pp)",
    "behavior_count_mae": "behaviour counts",
    "arrival_mae": "arrivals",
    "arrival_crps": "CRPS",
}
"""The scores a person sees first; tables and JSON have all of them."""


def shown_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """One row per horizon and model, a column per score; of `Backtest.to_frame`."""
    keys = ["horizon", "origins", "model"]
    wide = scores.filter(pl.col("metric").is_in(list(SHOWN))).pivot(
        "metric", index=keys, values="mean"
    )
    columns = [pl.col(metric).alias(SHOWN[metric]) for metric in SHOWN if metric in wide]
    return wide.select(*keys, *columns)


def shown_ranges(ranges: pl.DataFrame) -> pl.DataFrame:
    """One row per horizon and model: what ranges of daily totals cover in per cent, on the mean
    over arrivals and behaviours; of `Backtest.ranges`."""
    each = ranges.group_by("horizon", "model", "level", maintain_order=True)
    means = each.agg(pl.col("coverage").mean() * 100, pl.col("crps", "energy").mean())
    keys = ["horizon", "model"]
    wide = means.pivot("level", index=[*keys, "crps", "energy"], values="coverage")
    covers = {f"{level}": f"{level:g}% covers" for level in ranges["level"].unique().sort()}
    return wide.rename(covers).select(*keys, *covers.values(), "crps", "energy")
