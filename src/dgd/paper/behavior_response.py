"""Table behavior-response: mean Brier score and cohort-rate error of all models."""

import polars as pl

from dgd.paper.models import Scored

_WINDOWS = ("Standard", "Random", "Retail 2010", "Retail 2011")
_FIGURES = {
    "DGD, paper preset": ((0.0683, 4.21), (0.0324, 1.36), (0.2482, 12.84), (0.2396, 14.82)),
    "DeepAR-joint, paper preset": (
        (0.0709, 4.90),
        (0.0335, 1.86),
        (0.2535, 14.26),
        (0.2425, 15.52),
    ),
    "Full-projection GRU, calendar weekday": ((0.0726, 5.56), (0.0325, 1.39)),
    "Restricted-projection GRU, calendar weekday": ((0.0731, 5.62), (0.0325, 1.40)),
}
METRICS = {"mean_brier": "mean Brier", "cohort_rate_mae": "cohort-rate MAE (pp)"}
PAPER = {
    (model, window, metric): value
    for model, pairs in _FIGURES.items()
    for window, pair in zip(_WINDOWS, pairs, strict=False)
    for metric, value in zip(METRICS.values(), pair, strict=True)
}


def behavior_response(scored: Scored) -> pl.DataFrame:
    return pl.concat([scored.rows(window, METRICS, PAPER) for window in scored.windows.all])
