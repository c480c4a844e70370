"""Events in, counts of joint behaviour patterns out, on the engine the events live in.

One lazy group-by does all the work. The checks ride on it: unreadable times, labels
that are missing and behaviours that are neither 0 nor 1 end up in groups of their
own, so a clean log costs no second pass and a bad one is refused, never thinned.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.behaviors import NEITHER, behavior_code, refuse_behavior
from dgd.counting.engines import collect, open_events, whole_labels
from dgd.counting.local_time import LOCAL, add_local_time, local_day
from dgd.counting.refusals import plural, refuse_missing
from dgd.counting.unreadable_times import refuse_unreadable
from dgd.errors import InputError
from dgd.panel.grids import check_context_names
from dgd.tables import checks
from dgd.tables.clock import Clock
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label
from dgd.tables.periods import Moment, Period, period_named

log = logging.getLogger(__name__)

DAY, HOUR, PATTERN, ROWS = "__dgd_day__", "__dgd_hour__", "__dgd_pattern__", "__dgd_rows__"


@dataclass(frozen=True)
class CountReport:
    """What became of every row of the log."""

    rows: int
    """All rows of the log."""
    counted: int
    """Rows in the counts; `rows` less those outside the dates asked for."""
    before_start: int
    after_end: int
    missing_unit: int
    """Rows counted under the label `missing` for want of a unit."""
    missing_cohort: int
    first: date
    """The first and last day with counted events."""
    last: date


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
) -> Any:
    """Count events per day, unit, cohort and joint pattern of behaviours.

    Returns the long table that `Panel.from_counts` reads: `date`, `unit`, `cohort`, one
    0/1 column per behaviour, and `count`; only patterns that occurred have a row.
    It is a frame of the user's kind; Polars lazy and Spark give Polars, DuckDB PyArrow.

    **Arguments:**

    - `events`: one row per event. A pandas, Polars or PyArrow frame, or, read lazily
        where it lives, a Polars lazy frame, a DuckDB relation or a Spark frame.
    - `clock`: the time column, what it holds, and the zone in whose days events are
        counted. The engine's session zone plays no part and is not touched.
    - `behaviors`: columns that are boolean or 0/1 (text "0", "1", "true", "false" too).
    - `unit`, `cohort`: label columns; without them every event is in "all".
    - `context`: columns of numbers that tell events of a cell apart; events with
        equal context are counted together, for training on events.
    - `period`: "hour", "day" or "week" (weeks begin on Monday). Hours are wall-clock
        hours: the hour repeated in autumn holds both, the one skipped in spring none.
    - `start`, `end`: first and last day to count, both included.
    - `missing`: the label for events without unit or cohort; without it they are refused.
        A text label turns numeric labels into text.
    - `count`: the name of the column of counts.
    - `report`: called with a `CountReport`; without it, rows outside `start` ... `end`
        are mentioned in a log message.

    !!! example

        ```python
        counts = dgd.count_events(
            pl.scan_parquet("log/*.parquet"),
            dgd.Clock("time_ms", timezone="Asia/Shanghai", time_unit="ms"),
            unit="author", cohort="cohort", behaviors=["is_click", "is_like"],
        )
        panel = dgd.Panel.from_counts(counts, behaviors=["is_click", "is_like"])
        ```
    """
    step = period_named(period)
    first, last = _range(start, end)
    _check_names(behaviors, context, count)
    labels = {"unit": unit, "cohort": cohort}
    named = [column for column in labels.values() if column is not None]
    wanted = list(dict.fromkeys([clock.column, *named, *context, *behaviors]))
    frame, kind = open_events(events, "events", wanted)
    told = add_local_time(frame, clock, "events")
    table = collect(_grouped(told, labels, context, behaviors, step, clock))
    if table.height == 0:
        raise InputError("events has no rows; hand over at least one event.")
    if table[DAY].null_count():
        refuse_unreadable(told, clock, "events")
    _refuse_behaviors(table, frame, behaviors)
    table = _numbered(table, context)
    table = _labelled(table, labels, missing)
    kept, told_rows = _within(table, first, last)
    counts = _spread(kept, context, behaviors, step, count)
    _tell(told_rows, report)
    return from_polars(counts, kind)


def _range(start: Moment | None, end: Moment | None) -> tuple[date | None, date | None]:
    day = period_named("day")
    first, last = (
        None if moment is None else day.parse(moment, name).astype(date)
        for name, moment in (("start", start), ("end", end))
    )
    if first is not None and last is not None and first > last:
        raise InputError(f"start {first} is after end {last}; exchange them.")
    return first, last


def _check_names(behaviors: Sequence[str], context: Sequence[str], count: str) -> None:
    checks.check_behavior_names(behaviors)
    check_context_names(context, ("date", "unit", "cohort", count, *behaviors))
    for behavior in behaviors:
        if behavior in ("date", "unit", "cohort", count):
            raise InputError(
                f'behaviors names "{behavior}", which is another column of the counts table; '
                "rename it."
            )


def _grouped(
    frame: nw.LazyFrame[Any],
    labels: dict[str, str | None],
    context: Sequence[str],
    behaviors: Sequence[str],
    period: Period,
    clock: Clock,
) -> nw.LazyFrame[Any]:
    """The one group-by: rows per day, labels and pattern, each pattern a base-4 number."""
    schema = frame.collect_schema()
    if period.name == "hour" and schema[clock.column] == nw.Date:
        raise InputError(
            f'events column {clock.column} holds dates, which have no hours; choose period="day".'
        )
    codes = [behavior_code(b, schema) * 4**h for h, b in enumerate(behaviors)]
    pattern = codes[0]
    for code in codes[1:]:
        pattern = pattern + code
    keys = {
        DAY: local_day(schema),
        PATTERN: pattern,
        **{name: nw.col(column) for name, column in labels.items() if column is not None},
        **{name: nw.col(name) for name in context},
    }
    if period.name == "hour":
        keys[HOUR] = nw.col(LOCAL).dt.hour()
    keyed = frame.select(**keys)
    return keyed.group_by(list(keys)).agg(nw.len().alias(ROWS))


def _refuse_behaviors(
    table: pl.DataFrame, frame: nw.LazyFrame[Any], behaviors: Sequence[str]
) -> None:
    for h, behavior in enumerate(behaviors):
        bad = table.filter(pl.col(PATTERN) // 4**h % 4 == NEITHER)
        if bad.height:
            refuse_behavior(frame, "events", behavior)


def _numbered(table: pl.DataFrame, context: Sequence[str]) -> pl.DataFrame:
    """Context as numbers, which text may hold too; anything else is refused."""
    for name in context:
        if table.schema[name] == pl.Boolean or table.schema[name].is_numeric():
            number = pl.col(name)
        else:
            number = pl.col(name).cast(pl.String).cast(pl.Float64, strict=False)
        wrong = table.filter(number.is_null() & pl.col(name).is_not_null())
        if wrong.height:
            raise InputError(
                f'events column {name}: "{wrong[name][0]}" is not a number, in '
                f"{plural(int(wrong[ROWS].sum()))}; encode the context as numbers."
            )
        without = int(table.filter(number.is_null())[ROWS].sum())
        if without:
            refuse_missing("events", name, without)
        table = table.with_columns(number.alias(name))
    return table


def _labelled(
    table: pl.DataFrame, labels: dict[str, str | None], missing: Label | None
) -> pl.DataFrame:
    """Unit and cohort as whole numbers or text, missing ones named or refused."""
    for name, column in labels.items():
        if column is None:
            table = table.with_columns(pl.lit("all").alias(name))
            continue
        found = whole_labels(table[name].alias(column), "events").alias(name)
        without = int(table.filter(found.is_null())[ROWS].sum())
        if without and missing is None:
            way_out = f'name their {name} with missing="unknown" or drop them first'
            refuse_missing("events", column, without, way_out)
        label = missing
        if without and isinstance(label, str):
            found = found.cast(pl.String)
        elif found.dtype == pl.String:
            label = str(label)
        table = table.with_columns(
            found.is_null().alias(f"missing_{name}"),
            found.fill_null(pl.lit(label)) if without else found,
        )
    return table


def _within(
    table: pl.DataFrame, start: date | None, end: date | None
) -> tuple[pl.DataFrame, CountReport]:
    """The rows from `start` to `end`, and an account of all rows."""
    before = pl.lit(False) if start is None else pl.col(DAY) < start
    after = pl.lit(False) if end is None else pl.col(DAY) > end
    kept = table.filter(~before & ~after)
    if kept.height == 0:
        days = table[DAY].sort()
        raise InputError(
            f"events has none of its {plural(int(table[ROWS].sum()))} from {start or 'its start'} "
            f"to {end or 'its end'}: they run from {days[0]} to {days[-1]}; "
            "choose dates in that range."
        )
    days = kept[DAY].sort()
    report = CountReport(
        rows=int(table[ROWS].sum()),
        counted=int(kept[ROWS].sum()),
        before_start=int(table.filter(before)[ROWS].sum()),
        after_end=int(table.filter(after)[ROWS].sum()),
        missing_unit=_without(kept, "missing_unit"),
        missing_cohort=_without(kept, "missing_cohort"),
        first=days[0],
        last=days[-1],
    )
    return kept, report


def _without(table: pl.DataFrame, flag: str) -> int:
    return int(table.filter(pl.col(flag))[ROWS].sum()) if flag in table.columns else 0


def _spread(
    table: pl.DataFrame,
    context: Sequence[str],
    behaviors: Sequence[str],
    period: Period,
    count: str,
) -> pl.DataFrame:
    """Base-4 patterns as 0/1 columns, days as periods, one sorted row per pattern and cell."""
    moment = pl.col(DAY)
    if period.name == "week":
        moment = moment.dt.truncate("1w")
    if period.name == "hour":
        moment = moment.cast(pl.Datetime("us")) + pl.duration(hours=pl.col(HOUR))
    digits = [
        (pl.col(PATTERN) // 4**h % 4).cast(pl.Int64).alias(b) for h, b in enumerate(behaviors)
    ]
    keys = ["date", "unit", "cohort", *context, *behaviors]
    return (
        table.select(moment.alias("date"), "unit", "cohort", *context, *digits, ROWS)
        .group_by(keys)
        .agg(pl.col(ROWS).sum().cast(pl.Int64).alias(count))
        .sort(keys)
    )


def _tell(report: CountReport, listener: Callable[[CountReport], None] | None) -> None:
    if listener is not None:
        listener(report)
    elif report.counted < report.rows:
        log.warning(
            "left out %s of %s events: %s before start, %s after end.",
            f"{report.rows - report.counted:,}", f"{report.rows:,}",
            f"{report.before_start:,}", f"{report.after_end:,}",
        )  # fmt: skip
