"""The rows of KuaiRand-Pure's files, all whole numbers; anything else in them is refused."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from dgd.datasets.kuairand_logs import VIDEOS
from dgd.datasets.sources import missing_file
from dgd.errors import InputError
from dgd.tables import refusing

BEHAVIORS = {
    "is_click": "click",
    "long_view": "long_view",
    "is_like": "like",
    "is_follow": "follow",
    "is_comment": "comment",
    "is_forward": "forward",
    "is_hate": "hate",
}
"""The log's columns of feedback, and what dgd calls them."""
LOG_COLUMNS = ("user_id", "video_id", "time_ms", "tab", *BEHAVIORS)
LATEST_MS = 4_102_444_800_000  # the year 2100: larger numbers are not milliseconds


def read_numbers(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Whole-number columns of a CSV or Parquet file; anything else in them is refused."""
    csv = path.suffix == ".csv"
    try:
        scan = pl.scan_csv(path, infer_schema=False) if csv else pl.scan_parquet(path)
        schema = scan.collect_schema()
        refusing.require_columns(schema.to_frame(), path.name, columns)
        whole = {
            column: _whole_of_float(column) if schema[column].is_float() else _whole(column)
            for column in columns
        }
        table = scan.select(**whole).collect()
        refusing.refuse_empty(table, path.name, "fetch it again")
        for column in columns:
            low, high, fault = _limits(column)
            if not table[column].is_between(low, high).fill_null(False).all():
                raw = refusing.number_rows(scan.select(column).collect())
                bad = ~whole[column].is_between(low, high).fill_null(False)
                refusing.refuse(raw, path.name, column, bad, f"{fault}; fetch the file again.")
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{path.name} cannot be read ({error}); fetch it again.") from error
    return table


def _whole(column: str) -> pl.Expr:
    """The column as whole numbers, null where it holds anything else."""
    return pl.col(column).cast(pl.Int64, strict=False)


def _whole_of_float(column: str) -> pl.Expr:
    value = pl.col(column)
    return pl.when(value == value.floor()).then(value).cast(pl.Int64, strict=False)


def _limits(column: str) -> tuple[int, int, str]:
    """The least and greatest number a column may hold, and what is wrong with any other."""
    if column == "time_ms":
        return 0, LATEST_MS, "is not a time in milliseconds since 1970"
    if column in BEHAVIORS:
        return 0, 1, "is neither 0 nor 1"
    return -(2**63), 2**63 - 1, "is not a whole number"


def read_creators(folder: Path) -> pl.DataFrame:
    """Which creator made each video of the candidate pool."""
    for suffix in (".parquet", ".csv"):
        file = folder / f"{VIDEOS}{suffix}"
        if file.is_file():
            videos = refusing.number_rows(read_numbers(file, ("video_id", "author_id")))
            refusing.refuse_duplicates(videos, file.name, ["video_id"], "an author")
            return videos.drop(refusing.ROW)
    raise missing_file("kuairand", f"{VIDEOS}.csv", folder)
