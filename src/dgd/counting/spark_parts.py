"""A data set written by Spark itself: its driver sees totals, never the counts.

The groups of the log are made once and kept on the cluster. What must be refused is found in
groups merged over units, of which there are few; what is clean is labelled, split by the hash of
its unit and written there. Spark's SHA-256 is that of `hash_bucket`, so parts are the same on
every engine.
"""

from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from dgd.counting.behaviors import NEITHER
from dgd.counting.count_report import CountReport
from dgd.counting.data_sets import axes_of_log
from dgd.counting.dialects import Spark
from dgd.counting.engines import ROWS, collect
from dgd.counting.opened_log import OpenedLog
from dgd.counting.pattern_groups import DAY, HOUR, LATEST, PATTERN
from dgd.counting.spark_files import refuse_unseen, with_totals, write_files
from dgd.counting.spark_labels import final_label, label_sql, refuse_broken_units
from dgd.counting.spark_numbers import number_sql, refuse_bad_context
from dgd.files.folders import folder_made_whole
from dgd.parts.manifest import MANIFEST, CountsManifest
from dgd.parts.writing import PART

QUOTED = Spark().column


def write_with_spark(
    log: OpenedLog, count: str, target: tuple[Path, int]
) -> tuple[CountsManifest, CountReport]:
    """Count the log into a data set, and give its manifest and an account of all rows."""
    groups = log.groups().to_native().persist()
    try:
        kept, account = log.checked(collect(nw.from_native(_merged(groups, log))))
        refuse_broken_units(groups, log.grouping.labels["unit"])
        refuse_bad_context(groups, log.grouping.context, account)
        axes = axes_of_log(log, kept, count)
        counts = _counts(groups, log, axes, kept, account, target[1])
        with folder_made_whole(target[0], MANIFEST) as beside:
            write_files(counts, beside, axes)
            manifest = with_totals(groups.sparkSession, beside, axes, target[1])
            refuse_unseen(beside, manifest, account, target[0])
            manifest.write(beside)
    finally:
        groups.unpersist()
    return manifest, account


def _merged(groups: Any, log: OpenedLog) -> Any:
    """The groups of all units together; those without a unit, and bad behaviours, apart."""
    from pyspark.sql import functions

    keys = {DAY: QUOTED(DAY), PATTERN: _bad_digits(len(log.grouping.behaviors))}
    if HOUR in groups.columns:
        keys[HOUR] = QUOTED(HOUR)
    if "unit" in groups.columns:
        label, whole = label_sql(groups, "unit", log.grouping.labels["unit"])
        keys["unit"] = f"IF({label} IS NULL, NULL, {'0L' if whole else repr('')})"
    if "cohort" in groups.columns:
        keys["cohort"] = "cohort"
    sums = [functions.sum(ROWS).alias(ROWS)]
    if LATEST in groups.columns:
        sums.append(functions.max(LATEST).alias(LATEST))
    named = [functions.expr(key).alias(name) for name, key in keys.items()]
    return groups.groupBy(*named).agg(*sums)


def _bad_digits(behaviors: int) -> str:
    """The pattern with every good digit put to 0."""
    digits = (f"IF({_digit(h)} = {NEITHER}, {NEITHER * 4**h}, 0)" for h in range(behaviors))
    return " + ".join(digits)


def _digit(h: int) -> str:
    return f"({QUOTED(PATTERN)} DIV {4**h}) % 4"


def _counts(
    groups: Any,
    log: OpenedLog,
    axes: CountsManifest,
    kept: pl.DataFrame,
    account: CountReport,
    partitions: int,
) -> Any:
    """The counts of the days kept, on the cluster, each part in one place and sorted."""
    from pyspark.sql import functions

    columns = {"date": _moment(axes.period)}
    for name in ("unit", "cohort"):
        columns[name] = final_label(groups, name, log, kept.schema[name] == pl.String)
    for name in axes.context:
        columns[name] = f"CAST({number_sql(groups, name)} AS DOUBLE)"
    for h, name in enumerate(axes.behaviors):
        columns[name] = f"CAST({_digit(h)} AS TINYINT)"
    columns[ROWS] = ROWS
    day = functions.col(QUOTED(DAY))
    spread = groups.filter(day.between(account.first, account.last)).select(
        *(functions.expr(sql).alias(name) for name, sql in columns.items())
    )
    keys = [functions.col(QUOTED(name)) for name in axes.names[:-1]]
    placed = spread.withColumn(PART, functions.expr(_part("unit", partitions)))
    return (
        placed.repartition(partitions, PART)
        .groupBy(PART, *keys)
        .agg(functions.sum(ROWS).cast("bigint").alias(axes.columns["count"]))
        .sortWithinPartitions(PART, *keys)
    )


def _moment(period: str) -> str:
    day = QUOTED(DAY)
    if period == "week":
        return f"CAST(date_trunc('WEEK', CAST({day} AS TIMESTAMP_NTZ)) AS DATE)"
    if period == "hour":
        return f"CAST({day} AS TIMESTAMP_NTZ) + make_dt_interval(0, {QUOTED(HOUR)})"
    return day


def _part(unit: str, partitions: int) -> str:
    """The part of a unit, as `hash_bucket` has it, written as the folders are named."""
    digits = f"conv(substr(sha2(CAST({unit} AS STRING), 256), 1, 16), 16, 10)"
    part = f"CAST(CAST({digits} AS DECIMAL(20, 0)) % {partitions} AS INT)"
    return f"lpad(CAST({part} AS STRING), 5, '0')"
