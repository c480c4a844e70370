"""Who won a backtest, and by more than chance? One model against the best of the others."""

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


def compare_with_best(by_origin: pl.DataFrame) -> pl.DataFrame:
    """One row per horizon and metric: the model in question against the best of the others.

    The best is the one with the lowest score, picked with hindsight. `by_origin` has the rows
    of `score_origins` for every model and horizon.
    """
    names = by_origin["model"].unique(maintain_order=True).to_list()
    model = OWN if OWN in names else names[0]
    if len(names) == 1:
        return pl.DataFrame(schema=COLUMNS)
    rows = []
    for keys, part in by_origin.group_by("horizon", "metric", maintain_order=True):
        horizon, metric = keys
        scores: dict[str, Days] = {
            name: part.filter(model=name)["score"].to_numpy() for name in names
        }
        weights: Days = part.filter(model=model)["weight"].to_numpy()
        overall = {name: weighted_mean(scores[name], weights) for name in names}
        others = [name for name in names if name != model]
        best = min(others, key=lambda name: np.nan_to_num(overall[name], nan=np.inf))
        found = paired_difference(scores[model], scores[best], weights, horizon)
        rows.append(
            {
                "model": model,
                "opponent": best,
                "horizon": horizon,
                "metric": metric,
                "score": overall[model],
                "opponent_score": overall[best],
                **found._asdict(),
            }
        )
    return pl.DataFrame(rows, schema=COLUMNS)
