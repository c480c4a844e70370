"""Scores of a fit on its test days: those of a backtest, whatever blocks units come in."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.errors import InputError
from dgd.large import block_size
from support.large_fits import first_fit, sparse_panel

KEYS = ["horizon", "metric", "seed"]


@pytest.fixture(scope="module")
def fit() -> dgd.Fit:
    return first_fit(sparse_panel(20), seeds=(1, 2))


def scores_of_a_backtest(fit: dgd.Fit) -> pl.DataFrame:
    panel = fit.panel
    ends = {"train_end": panel.dates[26], "validation_end": panel.dates[34]}
    found = dgd.backtest(panel, {"dgd": fit}, horizons=[1, 3], **ends, paths=0)
    return found.seeds_to_frame("polars").drop("model").sort(KEYS)


def assert_same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    found = found.sort(KEYS)
    assert found.select(*KEYS, "origins").equals(expected.select(*KEYS, "origins"))
    np.testing.assert_allclose(found["score"], expected["score"], rtol=1e-9)


def test_scores_are_those_of_a_backtest(fit: dgd.Fit) -> None:
    assert_same(fit.scores([1, 3]), scores_of_a_backtest(fit))


@pytest.mark.slow
def test_scores_of_blocks_are_those_of_all(fit: dgd.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_size, "MOST_AT_ONCE", 100)
    monkeypatch.setattr(block_size, "NUMBERS_OF_A_BLOCK", 2_000)
    parted = replace(fit)
    assert parted.in_blocks
    assert_same(parted.scores([1, 3]), scores_of_a_backtest(fit))


def test_a_horizon_without_endpoint_is_refused(fit: dgd.Fit) -> None:
    with pytest.raises(InputError, match="horizon 6 has no endpoint among the 5 days"):
        fit.scores([6])
