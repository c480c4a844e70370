"""A small world as a data set, and a contest on it in which nobody trains."""

import polars as pl
import pytest

import dgd
from dgd.arena import contest, totals_alone
from dgd.arena.contest import Contest
from dgd.arena.contestants import TAKEN_AWAY, TRAINED
from dgd.baselines import TrainingHistory
from dgd.datasets import Dataset, Window
from support.untrained import no_training

ONE = "without feedback"
"""The part that is taken away here; the others differ in a setting only."""


@pytest.fixture(scope="session")
def dataset(drawn: dgd.Simulated) -> Dataset:
    """Forty simulated days: 7 to warm up, 21 to train, 7 to validate, 5 to test."""
    panel = drawn.panel
    window = Window(*(panel.dates[day] for day in (0, 6, 27, 34, 39)))
    return Dataset(panel, window, pl.DataFrame(), {}, 0.85)


@pytest.fixture(scope="session")
def told() -> list[str]:
    """What the contest said while it was held."""
    return []


@pytest.fixture(scope="session")
def rows(dataset: Dataset, told: list[str]) -> pl.DataFrame:
    """A whole contest but for its length: nobody trains, histories stand in for
    those that are trained for themselves, and StatsForecast is away."""
    bare = dgd.DGD()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contest, "TAKEN_AWAY", {ONE: TAKEN_AWAY[ONE]})
        patch.setattr(contest, "TRAINED", dict.fromkeys(TRAINED, TrainingHistory))
        patch.setattr(totals_alone, "installed", lambda: False)
        with no_training("dgd.estimator"):
            return Contest("small", dataset, told.append, bare, seeds=(1, 2)).rows()
