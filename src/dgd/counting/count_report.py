"""What became of every row of a log: counted, or outside the dates asked for."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

import polars as pl

from dgd.counting.engines import rows_in
from dgd.counting.group_keys import NO_LABEL
from dgd.counting.pattern_groups import DAY
from dgd.counting.refusals import plural
from dgd.counting.unfinished import unfinished_from
from dgd.errors import InputError
from dgd.tables.periods import Period

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CountReport:
    """What became of every row of the log."""

    rows: int
    """All rows of the log."""
    counted: int
    """Rows in the counts; `rows` less those outside the dates asked for."""
    before_start: int
    after_end: int
    unfinished: int
    """Rows of a last day or week that the log ends in the middle of, where no end was named."""
    unfinished_from: date | None
    """The first day of that day or week."""
    missing_unit: int
    """Rows counted under the label `missing` for want of a unit."""
    missing_cohort: int
    first: date
    """The first and last day with counted events."""
    last: date


def within(
    groups: pl.DataFrame, start: date | None, end: date | None, period: Period
) -> tuple[pl.DataFrame, CountReport]:
    """The groups from `start` to `end`, and an account of all rows.

    Where no end was named, a last day or week that is not over is left out.
    """
    before = pl.lit(False) if start is None else pl.col(DAY) < start
    after = pl.lit(False) if end is None else pl.col(DAY) > end
    kept = groups.filter(~before & ~after)
    if kept.height == 0:
        days = groups[DAY].sort()
        raise InputError(
            f"events has none of its {plural(rows_in(groups))} from {start or 'its start'} "
            f"to {end or 'its end'}: they run from {days[0]} to {days[-1]}; "
            "choose dates in that range."
        )
    cut = unfinished_from(kept, period) if end is None else None
    unfinished = kept.filter(pl.lit(False) if cut is None else pl.col(DAY) >= cut)
    if cut is not None:
        kept = kept.filter(pl.col(DAY) < cut)
    days = kept[DAY].sort()
    report = CountReport(
        rows=rows_in(groups),
        counted=rows_in(kept),
        before_start=rows_in(groups.filter(before)),
        after_end=rows_in(groups.filter(after)),
        unfinished=rows_in(unfinished),
        unfinished_from=cut,
        missing_unit=rows_in(kept.filter(NO_LABEL["unit"])),
        missing_cohort=rows_in(kept.filter(NO_LABEL["cohort"])),
        first=days[0],
        last=days[-1],
    )
    return kept, report


def pass_on(report: CountReport, listener: Callable[[CountReport], None] | None) -> None:
    """Hand the report over, or log what was left out if nobody listens."""
    if listener is not None:
        listener(report)
    elif report.counted < report.rows:
        log.warning(
            "left out %s of %s events: %s before start, %s after end, %s of a last day or week "
            "that is not over (name the end to keep them).",
            f"{report.rows - report.counted:,}", f"{report.rows:,}",
            f"{report.before_start:,}", f"{report.after_end:,}", f"{report.unfinished:,}",
        )  # fmt: skip
