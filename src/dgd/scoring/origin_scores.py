"""Scores origin by origin, so that two forecasters can be compared day for day.

A day's score weighs as much as it does in the score of all days: joint NLL by the day's recorded
events, errors of counts by 1. The weighted mean over origins is the score of all days.
"""

from collections.abc import Callable

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from dgd.forecasting.predictive import Predictive
from dgd.panel.panel import Panel
from dgd.scoring.behavior_scores import behavior_count_mae, joint_nll
from dgd.scoring.count_scores import arrival_mae


def score_origins(
    panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int, predicted: Predictive
) -> pl.DataFrame:
    """One row per metric and endpoint, the day `horizon` days after an origin.

    `score` is the mean over seeds, each scored on its own; the joint NLL of a day
    without arrivals is not a number and has no weight.
    """
    days = origins + horizon
    counts = panel.patterns[days].astype(np.float64)
    recorded = panel.arrivals[days].astype(np.float64)
    last = predicted.at(-1)
    every_seed = [
        {
            "joint_nll": _day_by_day(joint_nll, counts, patterns),
            "behavior_count_mae": _day_by_day(behavior_count_mae, counts, arrivals, patterns),
            "arrival_mae": _day_by_day(arrival_mae, recorded, arrivals),
        }
        for arrivals, patterns in zip(last.arrivals[:, 0], last.patterns[:, 0], strict=True)
    ]
    once = np.ones(len(days))
    return pl.concat(
        pl.DataFrame(
            [
                panel.period.series("origin", panel.dates[origins]),
                panel.period.series("date", panel.dates[days]),
                pl.Series("metric", [metric] * len(days)),
                pl.Series("score", np.mean([seed[metric] for seed in every_seed], 0)),
                pl.Series("weight", recorded.sum((1, 2)) if metric == "joint_nll" else once),
            ]
        )
        for metric in every_seed[0]
    )


def _day_by_day(score: Callable[..., float], *grids: np.ndarray) -> Float[np.ndarray, " day"]:
    days = range(len(grids[0]))
    return np.array([score(*(grid[day : day + 1] for grid in grids)) for day in days])
