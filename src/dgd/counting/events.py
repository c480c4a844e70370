"""Events in, counts of joint behaviour patterns out, on the engine the events live in.

One lazy group-by does all the work. The checks ride on it: unreadable times, labels
that are missing and behaviours that are neither 0 nor 1 end up in groups of their
own, so a clean log costs no second pass and a bad one is refused, never thinned.
"""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from narwhals.typing import IntoFrame

from dgd.counting.count_report import CountReport, pass_on
from dgd.counting.data_sets import data_set_target, write_groups
from dgd.counting.day_range import read_day, refuse_reversed
from dgd.counting.engines import collect, engine_of, open_events
from dgd.counting.local_time import add_local_time
from dgd.counting.opened_log import OpenedLog
from dgd.counting.pattern_groups import Grouping
from dgd.counting.spark_parts import write_with_spark
from dgd.counting.whole_ids import refuse_rounded_ids
from dgd.errors import InputError
from dgd.panel.grids import Columns, check_context_names
from dgd.tables import checks
from dgd.tables.clock import Clock
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label
from dgd.tables.periods import Moment, period_named


def count_events(
    events: IntoFrame,
    clock: Clock,
    *,
    behaviors: Sequence[str],
    unit: str | None = None,
    cohort: str | None = None,
    context: Sequence[str] = (),
    period: str = "day",
    start: Moment | None = None,
    end: Moment | None = None,
    missing: Label | None = None,
    count: str = "count",
    report: Callable[[CountReport], None] | None = None,
    to: str | PathLike[str] | None = None,
    partitions: int | None = None,
) -> Any:
    """Count events per day, unit, cohort and joint pattern of behaviours.

    Args:
        events: One row per event. A pandas, Polars or PyArrow frame, or, read lazily
            where it lives, a Polars lazy frame, a DuckDB relation or a Spark frame.
        clock: The time column, and in whose days it is counted. The zone of the engine's
            session plays no part and is not touched.
        behaviors: Columns that are boolean or 0/1 (text "0", "1", "true", "false" too).
        unit: The column of units; without it every event is in the unit "all".
        cohort: The column of cohorts; without it every event is in the cohort "all".
        context: Columns of numbers that tell events of a cell apart; events with
            equal context are counted together, for training on events.
        period: "hour", "day" or "week" (weeks begin on Monday). Hours are wall-clock
            hours: the hour repeated in autumn holds both, the one skipped in spring none.
        start: First day to count.
        end: Last day to count, included. Without it, a last day or week that the log ends in
            the middle of is left out, and the report says so.
        missing: The label for events without unit or cohort; without it they are refused.
            A text label turns numeric labels into text.
        count: The name of the column of counts.
        report: Called with a `CountReport`; without it, rows outside `start` ... `end`
            are mentioned in a log message.
        to: A folder to write the counts to instead of returning them: a Parquet data set
            that `Panel.from_parquet` reads, whole or shard by shard. Spark writes it where
            the events live, and its driver sees totals alone. A data set that stands there
            is replaced when the new one is whole.
        partitions: How many parts the data set has, at least as many as shards will read it;
            64 unless told. A unit is in part `hash_bucket(unit, partitions)`, on every
            engine: all of them know SHA-256, or hash each distinct unit once.

    Returns:
        The long table that `Panel.from_counts` reads, with `date`, `unit`, `cohort`, one 0/1
        column per behaviour, and `count`; only patterns that occurred have a row. It is a
        frame of the user's kind; Polars lazy and Spark give Polars, DuckDB PyArrow. With `to`,
        the `CountsManifest` of the data set instead.

    Raises:
        InputError: A column is missing, or holds times, labels, contexts or behaviours
            that cannot be counted; or `to` holds something that is no data set.
        OutputError: The data set could not be written.

    Example:
        A log larger than memory, counted in the days of Shanghai::

            counts = dgd.count_events(
                pl.scan_parquet("log/*.parquet"),
                dgd.Clock("time_ms", timezone="Asia/Shanghai", time_unit="ms"),
                unit="author",
                cohort="cohort",
                behaviors=["is_click", "is_like"],
            )
            panel = dgd.Panel.from_counts(counts, behaviors=["is_click", "is_like"])
    """
    first = None if start is None else read_day(start, "start")
    last = None if end is None else read_day(end, "end")
    if first is not None and last is not None:
        refuse_reversed(first, last)
    _check_names(behaviors, context, count)
    target = _target(to, partitions, behaviors, context, count)
    labels = {"unit": unit, "cohort": cohort}
    grouping = Grouping(labels, context, behaviors, period_named(period))
    frame, kind = open_events(events, "events", [clock.column, *grouping.columns])
    for column in labels.values():
        if column is not None:
            refuse_rounded_ids(frame, column, "events")
    told = add_local_time(frame, clock, "events")
    grouping.refuse_hours_of_dates(told, clock.column)
    log = OpenedLog(frame, told, clock, grouping, missing, first, last)
    counts: Any
    if target is not None and engine_of(frame).startswith("pyspark"):
        counts, account = write_with_spark(log, count, target)
    else:
        kept, account = log.checked(collect(log.groups()))
        if target is not None:
            counts = write_groups(log, kept, count, target)
        else:
            counts = from_polars(grouping.spread(kept, count), kind)
    pass_on(account, report)
    return counts


def _target(
    to: str | PathLike[str] | None,
    partitions: int | None,
    behaviors: Sequence[str],
    context: Sequence[str],
    count: str,
) -> tuple[Path, int] | None:
    if to is not None:
        columns = Columns("date", "unit", "cohort", count)
        return data_set_target(to, partitions, columns, behaviors, context)
    if partitions is not None:
        raise InputError(
            f"partitions is {partitions}, but there is no data set to write; name its folder "
            "with to=."
        )
    return None


def _check_names(behaviors: Sequence[str], context: Sequence[str], count: str) -> None:
    checks.check_behavior_names(behaviors)
    check_context_names(context, ("date", "unit", "cohort", count, *behaviors))
    for behavior in behaviors:
        if behavior in ("date", "unit", "cohort", count):
            raise InputError(
                f'behaviors names "{behavior}", which is another column of the counts table; '
                "rename it."
            )
