"""What is not a whole number where one belongs is named with its file, row and column."""

from pathlib import Path

import polars as pl
import pytest

from dgd import InputError
from dgd.datasets import kuairand
from support.small_kuairand import EARLY, VIDEOS, publish, videos, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return publish(tmp_path)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("time_ms", "noon", '"noon" .and 1 more rows. is not a time in milliseconds'),
        ("time_ms", "1649390400000000", "is not a time in milliseconds since 1970"),
        ("time_ms", None, "missing .and 1 more rows. is not a time"),
        ("is_click", "2", '"2" .and 1 more rows. is neither 0 nor 1'),
        ("long_view", None, "is neither 0 nor 1"),
        ("user_id", "anna", '"anna" .and 1 more rows. is not a whole number'),
        ("tab", None, "is not a whole number"),
    ],
)
def test_a_bad_value_is_named_with_file_row_column_and_number(folder, column, value, message):
    file = folder / f"{EARLY}.csv"
    table = pl.read_csv(file, infer_schema=False)
    bad = [*table[column].to_list()[:-2], value, value]
    table.with_columns(pl.Series(column, bad, dtype=pl.String)).write_csv(file)
    row = table.height - 1
    with pytest.raises(InputError, match=rf"{EARLY}\.csv row {row}, column {column}: .*{message}"):
        kuairand(folder)


def test_half_a_click_is_refused_in_parquet_too(folder):
    rows = pl.read_csv(folder / f"{EARLY}.csv").with_columns(pl.col("is_click") * 0.5)
    rows.write_parquet(folder / f"{EARLY}.parquet")
    with pytest.raises(InputError, match=r"column is_click: 0\.5 .*is neither 0 nor 1"):
        kuairand(folder)


def test_a_missing_column_is_named(folder):
    file = folder / f"{EARLY}.csv"
    pl.read_csv(file).drop("long_view").write_csv(file)
    with pytest.raises(InputError, match='has no column "long_view"; its columns are user_id'):
        kuairand(folder)


@pytest.mark.parametrize("text", ["", "user_id,video_id\n"])
def test_an_empty_log_is_refused(folder, text):
    (folder / f"{EARLY}.csv").write_text(text)
    with pytest.raises(InputError, match=rf"{EARLY}\.csv"):
        kuairand(folder)


def test_a_log_with_a_header_only_is_refused(folder):
    file = folder / f"{EARLY}.csv"
    pl.read_csv(file).head(0).write_csv(file)
    with pytest.raises(InputError, match="has no rows; fetch it again"):
        kuairand(folder)


def test_a_video_with_two_authors_is_refused(folder):
    write(folder, VIDEOS, [*videos(), {"video_id": 3, "author_id": 7, "tag": ""}])
    with pytest.raises(InputError, match="rows 4 and 7 both give an author for video_id 3"):
        kuairand(folder)
