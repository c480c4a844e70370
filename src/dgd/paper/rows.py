"""One line of a table: a model's figure on a window, beside the paper's."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

ROW: dict[str, pl.DataType | type[pl.DataType]] = {
    "model": pl.String,
    "window": pl.String,
    "metric": pl.String,
    "mean": pl.Float64,
    "sd": pl.Float64,
    "paper": pl.Float64,
    "scores": pl.List(pl.Float64),
}


class Row(NamedTuple):
    """A figure; where it is a mean over seeds, `scores` holds every seed's own."""

    model: str
    window: str
    metric: str
    mean: float
    sd: float | None = None
    paper: float | None = None
    scores: Sequence[float] | None = None

    @staticmethod
    def over_seeds(
        model: str, window: str, metric: str, scores: Sequence[float], paper: float | None
    ) -> "Row":
        """Mean and deviation of one score per seed; the deviation divides by seeds - 1."""
        mean, sd = float(np.mean(scores)), float(np.std(scores, ddof=1))
        return Row(model, window, metric, mean, sd, paper, [float(score) for score in scores])


def table_of(rows: Iterable[Row]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=ROW, orient="row", strict=False)
