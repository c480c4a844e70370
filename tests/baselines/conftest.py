"""The neural opponents, each trained once for all tests of this folder."""

from typing import Any

import pytest

import dgd
from dgd.baselines import GRU, DeepAR, DeepARFit, GRUFit

TRAIN_END, VALIDATION_END = 27, 34


@pytest.fixture(scope="session")
def ends(drawn: dgd.Simulated) -> dict[str, Any]:
    dates = drawn.panel.dates
    return {"train_end": dates[TRAIN_END], "validation_end": dates[VALIDATION_END]}


@pytest.fixture(scope="session")
def deepar(drawn: dgd.Simulated, ends: dict[str, Any]) -> DeepARFit:
    return DeepAR(widths=(2, 3), epochs=3, histories=64).fit(drawn.panel, **ends, seeds=[1, 2])


@pytest.fixture(scope="session")
def gru(drawn: dgd.Simulated, ends: dict[str, Any]) -> GRUFit:
    return GRU(epochs=3).fit(drawn.panel, **ends, seeds=[1, 2])
