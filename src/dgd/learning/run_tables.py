"""What training did, seed by seed, as tidy tables."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from dgd.learning.loop import Run


def history_table(runs: Sequence[Run]) -> pl.DataFrame:
    """One row per seed and epoch: training and validation objective."""
    return pl.concat(
        pl.DataFrame(
            {
                "seed": np.full(len(run.train_objective), run.seed),
                "epoch": np.arange(len(run.train_objective)),
                "training": run.train_objective,
                "validation": run.validation_objective,
            }
        )
        for run in runs
    )


def summary_table(runs: Sequence[Run]) -> pl.DataFrame:
    """One row per seed: the epoch kept, its validation objective, why training ended."""
    return pl.DataFrame(
        {
            "seed": [run.seed for run in runs],
            "start": [run.start for run in runs],
            "epoch kept": [run.best_epoch for run in runs],
            "validation objective": [run.best_objective for run in runs],
            "epochs run": [len(run.train_objective) for run in runs],
            "ended because": [run.reason for run in runs],
        }
    )
