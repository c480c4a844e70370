"""Table retail-behavior-counts: one-day behavioural-count error in Retail, and its NLL."""

import polars as pl

from dgd.paper.models import Scored

METRIC = "behavioral-count MAE"
_FIGURES = {
    "DGD, paper preset": (4.71, 5.38),
    "DeepAR-joint, paper preset": (6.88, 5.77),
    "Training history": (13.53, 14.34),
    "Last-day history": (12.36, 11.83),
    "Smoothed history": (10.38, 12.29),
}
PAPER = {
    (model, window, METRIC): value
    for model, values in _FIGURES.items()
    for window, value in zip(("Retail 2010", "Retail 2011"), values, strict=True)
}


def retail_behavior_counts(scored: Scored) -> pl.DataFrame:
    metrics = {"behavior_count_mae": METRIC, "joint_nll": "joint NLL"}
    return pl.concat([scored.rows(window, metrics, PAPER) for window in scored.windows.retail])
