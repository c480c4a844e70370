"""Who won a backtest, and by more than chance? One model against the others."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from dgd.scoring.pairing import Days, paired_difference, weighted_mean

OWN = "dgd"
"""The model in question, where one has this name; otherwise it is the first."""

COLUMNS = {
    "model": pl.String,
    "opponent": pl.String,
    "horizon": pl.Int64,
    "metric": pl.String,
    "score": pl.Float64,
    "opponent_score": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p_value": pl.Float64,
    "origins": pl.Int64,
}


def model_in_question(names: Sequence[str]) -> str:
    """The one that all others are held against."""
    return OWN if OWN in names else names[0]


def compare_with_each(by_origin: pl.DataFrame) -> pl.DataFrame:
    """One row per horizon, metric and opponent: the model in question against every other.

    `by_origin` has the rows of `score_origins` for every model and horizon.
    """
    names = by_origin["model"].unique(maintain_order=True).to_list()
    model = model_in_question(names)
    rows = []
    for keys, part in by_origin.group_by("horizon", "metric", maintain_order=True):
        horizon, metric = keys
        scores: dict[str, Days] = {
            name: part.filter(model=name)["score"].to_numpy() for name in names
        }
        weights: Days = part.filter(model=model)["weight"].to_numpy()
        for opponent in names:
            if opponent == model:
                continue
            found = paired_difference(scores[model], scores[opponent], weights, horizon)
            rows.append(
                {
                    "model": model,
                    "opponent": opponent,
                    "horizon": horizon,
                    "metric": metric,
                    "score": weighted_mean(scores[model], weights),
                    "opponent_score": weighted_mean(scores[opponent], weights),
                    **found._asdict(),
                }
            )
    return pl.DataFrame(rows, schema=COLUMNS)


def compare_with_best(by_origin: pl.DataFrame) -> pl.DataFrame:
    """One row per horizon and metric: the model in question against the best of the others.

    The best is the one with the lowest score, picked with hindsight. `by_origin` has the rows
    of `score_origins` for every model and horizon.
    """
    best = [
        min(part.iter_rows(named=True), key=_rank)
        for _, part in compare_with_each(by_origin).group_by(
            "horizon", "metric", maintain_order=True
        )
    ]
    return pl.DataFrame(best, schema=COLUMNS)


def _rank(row: dict[str, Any]) -> float:
    """Who has no score comes last."""
    return float(np.nan_to_num(row["opponent_score"], nan=np.inf))
