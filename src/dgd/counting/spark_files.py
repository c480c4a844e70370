"""Files that a Spark cluster writes, and what it says is in them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from dgd.counting.count_report import CountReport
from dgd.counting.dialects import Spark
from dgd.counting.engines import collect
from dgd.errors import OutputError
from dgd.parts.manifest import CountsManifest, PartTotals
from dgd.parts.writing import PART

QUOTED = Spark().column


def write_files(counts: Any, beside: Path, axes: CountsManifest) -> None:
    """Every part as files of its own, in an empty folder."""
    names = [QUOTED(name) for name in (*axes.names, PART)]
    (
        counts.select(*names)
        .write.mode("append")
        .option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        .partitionBy(PART)
        .parquet(beside.as_uri())
    )


def with_totals(
    session: Any, beside: Path, axes: CountsManifest, partitions: int
) -> CountsManifest:
    """The manifest with the totals of what was written, added up on the cluster."""
    from pyspark.sql import functions

    count = functions.col(QUOTED(axes.columns["count"]))
    totals = (
        session.read.parquet(beside.as_uri())
        .groupBy(PART)
        .agg(
            functions.count("*").alias("rows"),
            functions.sum(count).alias("arrivals"),
            functions.countDistinct("unit").alias("units"),
        )
    )
    parts = [PartTotals(0, 0, 0)] * partitions
    for part, *found in collect(nw.from_native(totals)).iter_rows():
        parts[int(part)] = PartTotals(*map(int, found))
    return replace(axes, parts=tuple(parts))


def refuse_unseen(
    beside: Path, manifest: CountsManifest, account: CountReport, folder: Path
) -> None:
    """Raise where the files here are not all that the cluster wrote."""
    files = sorted(beside.glob("part=*/*.parquet"))
    seen = 0
    if files:
        seen = int(
            pl.scan_parquet(files, hive_partitioning=False).select(pl.len()).collect().item()
        )
    if seen != manifest.rows or manifest.arrivals != account.counted:
        raise OutputError(
            f'folder "{folder}" shows {seen:,} rows where Spark wrote {manifest.rows:,}; name a '
            "folder that its driver and its workers share."
        )
