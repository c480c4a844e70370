"""The files that together hold every day asked for are found, or named with their publisher."""

from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dgd import InputError
from dgd.datasets import kuairand
from support.small_kuairand import (
    EARLY,
    LATER,
    PARTIAL,
    RANDOM,
    VIDEOS,
    every_day,
    publish,
    videos,
    write,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return publish(tmp_path)


@pytest.mark.parametrize("inside", ["kuairand_pure", "kuairand_pure/KuaiRand-Pure/data", "data"])
def test_the_files_are_found_inside_a_data_folder(folder, inside, monkeypatch):
    deeper = folder / inside
    deeper.mkdir(parents=True)
    for file in folder.glob("*.csv"):
        file.rename(deeper / file.name)
    monkeypatch.setenv("DGD_DATA", str(folder))
    assert kuairand().panel.arrivals.sum() == 31 * 8


def test_a_day_held_by_two_files_is_counted_once(folder):
    before = kuairand(folder, "late").panel
    rows = pl.read_csv(folder / f"{LATER}.csv").filter(pl.col("date") >= 20220425)
    rows.write_parquet(folder / f"{PARTIAL}.parquet")
    pl.read_csv(folder / f"{LATER}.csv").write_parquet(folder / f"{LATER}.parquet")
    np.testing.assert_array_equal(kuairand(folder, "late").panel.patterns, before.patterns)


def test_the_late_window_needs_no_earlier_file(folder):
    (folder / f"{EARLY}.csv").unlink()
    assert kuairand(folder, "late").panel.arrivals.sum() == 14 * 8


@pytest.mark.parametrize(
    ("window", "gone"),
    [
        ("standard", EARLY),
        ("standard", LATER),
        ("late", LATER),
        ("random", RANDOM),
        ("random", EARLY),
        ("standard", VIDEOS),
    ],
)
def test_a_missing_file_is_answered_with_its_name_and_publisher(folder, window, gone):
    (folder / f"{gone}.csv").unlink()
    with pytest.raises(
        InputError, match=rf"{gone}\.csv of KuaiRand-Pure .*kuairand\.com.*zenodo.*10439422"
    ):
        kuairand(folder, window)


def test_an_empty_folder_is_answered_with_what_belongs_there(tmp_path):
    with pytest.raises(InputError, match=f"{EARLY}.csv of KuaiRand-Pure is not in"):
        kuairand(tmp_path)


def test_a_file_with_some_buckets_does_not_answer_for_others(tmp_path):
    write(tmp_path, PARTIAL, every_day(date(2022, 4, 25), date(2022, 5, 8)), ".parquet")
    write(tmp_path, VIDEOS, videos())
    assert kuairand(tmp_path, "late").panel.arrivals.sum() == 14 * 8
    with pytest.raises(InputError, match=rf"{LATER}\.csv"):
        kuairand(tmp_path, "late", buckets=(1, 40))
