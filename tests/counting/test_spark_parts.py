"""Spark writes data sets itself: those of any other engine, and its driver sees totals alone."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import dgd.counting.spark_parts
from dgd import CountReport, CountsManifest, InputError, OutputError, Panel, count_events
from support.engines import spark_session
from support.visit_log import CLOCK, options, visits

PARTS = 5
TEXT_UNITS = pl.col("number").cast(pl.String)
HALVES = pl.when(pl.col("number") > 0).then(pl.col("number").cast(pl.Float64))
"""Whole numbers that became floats beside missing ones."""


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with spark_session(**{"spark.sql.session.timeZone": "America/St_Johns"}) as session:
        yield session


def on_spark(session: Any, table: pl.DataFrame) -> Any:
    return session.createDataFrame(table.to_arrow()).repartition(2)


def written(log: Any, folder: Path, **more: Any) -> CountsManifest:
    found = count_events(log, CLOCK, to=folder, partitions=PARTS, **options(**more))
    assert isinstance(found, CountsManifest)
    return found


def part_rows(folder: Path, part: int) -> pl.DataFrame:
    place = folder / f"part={part:05d}"
    return pl.read_parquet(place / "*.parquet", hive_partitioning=False)


LOGS: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "days": (visits(), {}),
    "hours": (visits(), {"period": "hour", "count": "visits"}),
    "weeks up to an unfinished one": (visits(), {"period": "week", "end": None}),
    "context as text": (visits(), {"context": ["place"]}),
    "whole numbers": (visits(), {"unit": "number", "start": "2022-03-22"}),
    "floats, some missing": (visits().with_columns(HALVES), {"unit": "number"}),
    "floats, missing ones numbered": (
        visits().with_columns(HALVES, pl.col("group").fill_null("d")),
        {"unit": "number", "missing": 77},
    ),
    "quotes": (visits(), {"missing": "l'\\\\inconnu`"}),
    "no units, no cohorts": (visits(), {"unit": None, "cohort": None}),
}


@pytest.mark.parametrize("name", LOGS)
def test_spark_writes_the_parts_that_polars_writes(name: str, spark: Any, tmp_path: Path) -> None:
    log, more = LOGS[name]
    reports: list[CountReport] = []
    ours = written(on_spark(spark, log), tmp_path / "spark", report=reports.append, **more)
    theirs = written(log, tmp_path / "polars", report=reports.append, **more)
    assert ours == theirs
    assert reports[0] == reports[1]
    parts = [part for part in range(PARTS) if ours.parts[part].rows]
    for part in parts:
        assert_frame_equal(
            part_rows(tmp_path / "spark", part), part_rows(tmp_path / "polars", part)
        )
    assert len(parts) == (1 if more.get("unit", "") is None else PARTS)


def test_shards_read_what_spark_wrote(spark: Any, tmp_path: Path) -> None:
    written(on_spark(spark, visits()), tmp_path / "counts")
    shards = [Panel.from_parquet(tmp_path / "counts", shard=(i, 3)) for i in range(3)]
    assert sum(int(shard.arrivals.sum()) for shard in shards) == int(
        Panel.from_parquet(tmp_path / "counts").arrivals.sum()
    )


class Collected:
    """How many rows came to the driver, call by call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from pyspark.sql.classic.dataframe import DataFrame

        self.rows: list[int] = []
        for name in ("collect", "toArrow", "toPandas", "_collect_as_arrow"):
            monkeypatch.setattr(DataFrame, name, self._counting(getattr(DataFrame, name)))
        for name in ("toLocalIterator", "rdd"):
            monkeypatch.setattr(DataFrame, name, None)

    def _counting(self, method: Any) -> Any:
        def counted(*given: Any, **more: Any) -> Any:
            found = method(*given, **more)
            batches = found if isinstance(found, list) else [found]
            self.rows.append(sum(getattr(batch, "num_rows", 1) for batch in batches))
            if hasattr(found, "shape"):
                self.rows.append(len(found))
            return found

        return counted


def test_the_driver_sees_totals_and_never_the_counts(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = on_spark(spark, visits(rows=6000, units=400))
    collected = Collected(monkeypatch)
    manifest = written(log, tmp_path / "counts", context=["place"])
    days_and_cohorts = 13 * 4
    assert manifest.rows > 4000
    assert collected.rows
    assert max(collected.rows) <= days_and_cohorts
    count_events(log, CLOCK, **options(context=["place"]))
    assert max(collected.rows) > 4000  # a table does come to the driver, and is seen to


REFUSED: dict[str, tuple[pl.Expr, dict[str, Any]]] = {
    "column group is missing in": (pl.col("like"), {"missing": None}),
    'column at: "soon" is not a time dgd can read': (pl.lit("soon").alias("at"), {}),
    "column like: 3 is neither 0 nor 1, in": (pl.col("like") * 3, {}),
    "column number: 2.5 is not a label; use whole numbers or text": (
        pl.lit(2.5).alias("number"), {"unit": "number"},
    ),
    "column number is missing in 900 rows": (
        pl.lit(None, dtype=pl.Int64).alias("number"), {"unit": "number", "missing": None},
    ),
    'column place: "here" is not a number, in 900 rows': (
        pl.lit("here").alias("place"), {"context": ["place"]},
    ),
    "column place is missing in 900 rows": (
        pl.lit(None, dtype=pl.String).alias("place"), {"context": ["place"]},
    ),
    "column place: nan is not a number to compute with, in 892 rows": (
        pl.lit(float("nan")).alias("place"), {"context": ["place"]},
    ),
    "has none of its 900 rows from 2023-01-01": (
        pl.col("like"), {"start": "2023-01-01", "end": None},
    ),
}  # fmt: skip


@pytest.mark.parametrize("said", REFUSED)
def test_spark_refuses_in_the_words_of_every_engine(said: str, spark: Any, tmp_path: Path) -> None:
    change, more = REFUSED[said]
    log = visits().with_columns(change)
    told = []
    for events in (log, on_spark(spark, log)):
        with pytest.raises(InputError) as refused:
            written(events, tmp_path / "counts", **more)
        told.append(str(refused.value))
    assert said in told[0]
    assert told[0] == told[1]
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("before", [False, True], ids=["nothing there", "a data set there"])
def test_a_write_that_fails_half_way_changes_nothing(
    before: bool, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "counts"
    if before:
        written(visits(rows=50), folder)
    write = dgd.counting.spark_parts.write_files

    def failing(counts: Any, beside: Path, axes: CountsManifest) -> None:
        write(counts, beside, axes)
        raise RuntimeError("a worker was lost")

    monkeypatch.setattr(dgd.counting.spark_parts, "write_files", failing)
    with pytest.raises(RuntimeError, match="a worker was lost"):
        written(on_spark(spark, visits()), folder)
    assert [path.name for path in tmp_path.iterdir()] == (["counts"] if before else [])
    if before:
        assert Panel.from_parquet(folder).arrivals.sum() <= 50


def test_files_that_the_driver_does_not_see_are_missed(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = dgd.counting.spark_parts.write_files

    def elsewhere(counts: Any, beside: Path, axes: CountsManifest) -> None:
        write(counts, beside, axes)
        shutil.rmtree(beside / "part=00002")

    monkeypatch.setattr(dgd.counting.spark_parts, "write_files", elsewhere)
    with pytest.raises(OutputError, match="that its driver and its workers share"):
        written(on_spark(spark, visits()), tmp_path / "counts")
    assert not any(tmp_path.iterdir())
