"""Forecasts of every unit as a data set: the rows of the table, whole or not at all."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.errors import InputError
from dgd.large import block_size
from dgd.tables.hashing import hash_bucket
from support.large_fits import first_fit, sparse_panel

KEYS = ["date", "unit", "cohort"]


@pytest.fixture(scope="module")
def fit() -> dgd.Fit:
    """With units that are looked at in one go."""
    return first_fit(sparse_panel(32))


def written(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "*/*.parquet", hive_partitioning=False).sort(KEYS)


def assert_same(one: pl.DataFrame, other: pl.DataFrame) -> None:
    assert one.schema == other.schema
    for name in other.columns:
        if name in (*KEYS, "horizon"):
            assert one[name].equals(other[name])
        else:
            np.testing.assert_allclose(one[name].to_numpy(), other[name].to_numpy(), rtol=1e-9)


def test_blocks_write_the_rows_of_the_table(
    fit: dgd.Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = fit.forecast(3).to_frame().sort(KEYS)
    small = fit.forecast_to(tmp_path / "small", 3, partitions=3)
    monkeypatch.setattr(block_size, "MOST_AT_ONCE", 100)
    monkeypatch.setattr(block_size, "NUMBERS_OF_A_BLOCK", 3_300)
    large = replace(fit).forecast_to(tmp_path / "large", 3, partitions=3)
    assert large == small == json.loads((tmp_path / "large/manifest.json").read_text())
    assert (large["rows"], large["units"], large["partitions"]) == (3 * 32 * 2, 32, 3)
    assert_same(written(tmp_path / "small"), table)
    assert_same(written(tmp_path / "large"), table)
    for part in range(3):
        units = pl.read_parquet(tmp_path / f"large/part=0000{part}/*.parquet")["unit"].unique()
        assert {hash_bucket(unit, 3) for unit in units} == {part}


@pytest.mark.long
def test_two_thousand_units_from_fit_to_files(tmp_path: Path) -> None:
    """So many units are looked at block by block by themselves."""
    fit = first_fit(sparse_panel(2000, cohorts=3, behaviors=8, days=42, rate=0.3))
    assert fit.in_blocks
    facts = fit.forecast_to(tmp_path / "out", 4, partitions=8)
    assert facts["rows"] == 4 * 2000 * 3
    rows = written(tmp_path / "out")
    some = fit.forecast(4, units=["u7", "u1999"]).to_frame().sort(KEYS)
    assert_same(rows.filter(pl.col("unit").is_in(["u7", "u1999"])), some)
    recent = fit.panel.arrivals[-14:].sum() / 14
    assert 0.7 * recent < rows.filter(pl.col("horizon") == 1)["arrivals"].sum() < 1.4 * recent
    fit.save(tmp_path / "model.dgd")
    again = dgd.load(tmp_path / "model.dgd")
    assert_same(again.forecast(4, units=["u7", "u1999"]).to_frame().sort(KEYS), some)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"partitions": 0}, "partitions is 0; give a whole number"),
        ({"origin": "2030-01-01"}, "origin 2030-01-01 is not a day"),
        ({"horizon": 0}, "horizon is 0; ask for at least one day"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(
    fit: dgd.Fit, tmp_path: Path, asked: dict, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        fit.forecast_to(tmp_path / "out", **{"horizon": 1, **asked})
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_never_replaced(fit: dgd.Fit, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("kept")
    with pytest.raises(InputError, match="holds other files"):
        fit.forecast_to(tmp_path, 1)
    assert (tmp_path / "mine.txt").read_text() == "kept"


def test_a_forecast_that_fails_leaves_the_old_one(
    fit: dgd.Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit.forecast_to(tmp_path / "out", 1, partitions=2)
    before = written(tmp_path / "out")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dgd.large.forecast_files._write", fail)
    with pytest.raises(dgd.errors.OutputError, match="No space left"):
        fit.forecast_to(tmp_path / "out", 2, partitions=2)
    assert_same(written(tmp_path / "out"), before)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
