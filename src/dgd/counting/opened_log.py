"""A log that is ready to be grouped, and what is refused of its groups on any engine."""

from dataclasses import dataclass
from datetime import date
from typing import Any

import narwhals as nw
import polars as pl

from dgd.counting.count_report import CountReport, within
from dgd.counting.far_days import refuse_far_days
from dgd.counting.group_keys import with_labels, with_numbers
from dgd.counting.pattern_groups import DAY, Grouping
from dgd.counting.unreadable_times import refuse_unreadable
from dgd.tables import refusing
from dgd.tables.clock import Clock
from dgd.tables.labels import Label


@dataclass(frozen=True)
class OpenedLog:
    """A log, how it is grouped, and which of its days are wanted."""

    frame: nw.LazyFrame[Any]
    told: nw.LazyFrame[Any]
    """The same with the local time of every row."""
    clock: Clock
    grouping: Grouping
    missing: Label | None
    start: date | None
    end: date | None

    def groups(self) -> nw.LazyFrame[Any]:
        """Rows of each group, not yet run."""
        return self.grouping.group(self.told)

    def checked(self, groups: pl.DataFrame) -> tuple[pl.DataFrame, CountReport]:
        """The groups of the days wanted, labelled, and an account of all; bad ones are refused.

        Groups may be merged ones: context that they lack is not looked at.
        """
        refusing.refuse_empty(groups, "events", "hand over at least one event")
        if groups[DAY].null_count():
            refuse_unreadable(self.told, self.clock, "events")
        self.grouping.refuse_behaviors(groups, self.frame)
        context = [name for name in self.grouping.context if name in groups.columns]
        labelled = with_labels(with_numbers(groups, context), self.grouping.labels, self.missing)
        kept, account = within(labelled, self.start, self.end, self.grouping.period)
        refuse_far_days(kept, self.clock.column)
        return kept, account
