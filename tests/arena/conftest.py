"""A small world as a data set, and an arena in which nobody trains for long."""

from collections.abc import Callable, Iterator
from functools import partial

import polars as pl
import pytest

import dgd
from dgd.arena import contest, totals_alone
from dgd.baselines import DeepAR
from dgd.datasets import Dataset, Window
from support.untrained import no_training


@pytest.fixture(scope="session")
def dataset_of() -> Callable[[dgd.Panel], Dataset]:
    """Forty simulated days: 7 to warm up, 21 to train, 7 to validate, 5 to test."""

    def made(panel: dgd.Panel) -> Dataset:
        window = Window(*(panel.dates[day] for day in (0, 6, 27, 34, 39)))
        return Dataset(panel, window, pl.DataFrame(), {}, 0.85)

    return made


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everybody keeps their first parameters, and StatsForecast stays away."""
    trained = {**contest.TRAINED, "DeepAR-joint": partial(DeepAR, histories=4, widths=(2,))}
    monkeypatch.setattr(contest, "TRAINED", trained)
    monkeypatch.setattr(totals_alone, "installed", lambda: False)
    with no_training("dgd.estimator"), no_training("dgd.baselines.deepar"):
        yield
