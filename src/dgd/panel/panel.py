"""Panel: counts and known inputs on a grid of dates, units and cohorts.

The one form in which the rest of dgd sees data. A panel is made from tables,
checked when it is made, and never changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float, Int
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.panel import grids
from dgd.panel.contexts import EventCounts, events_of
from dgd.panel.counted_rows import rows_of_counts
from dgd.panel.everyone import Everyone
from dgd.panel.exploration.exploring import Exploration, explore
from dgd.panel.grids import ARRIVALS, Axes, Columns
from dgd.panel.partitioned import counts_of_data_set
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.shown import cohort_totals, panel_in_sentences
from dgd.panel.special_days import NO_SPECIAL_DAYS, SpecialDays
from dgd.tables.frames import from_polars, to_polars
from dgd.tables.html import html_summary
from dgd.tables.labels import Label
from dgd.tables.periods import Moment, Period, period_named

NUMBERS_OF_A_CELL = 8
"""What every cell takes beside the patterns that occurred: arrivals, size, effort, their work."""


@dataclass(frozen=True, eq=False)
class Panel:
    """Counts of joint behaviour patterns per date, unit and cohort.

    `known_dates` runs on past the last counted date where effort or features
    were given for the future; forecasts draw on that part.
    """

    counts: PatternCounts
    """C(y): how many arrivals showed each pattern, for those that any showed."""
    size: Float[np.ndarray, "date unit cohort"]
    """n: reference size of the cohort at the unit."""
    effort: Float[np.ndarray, "known_date unit cohort"]
    """e: activity effort; 0 means nothing could arrive."""
    features: Float[np.ndarray, "known_date unit cohort feature"]
    """x: further known inputs, as given."""
    known_dates: np.ndarray
    units: tuple[Label, ...]
    cohorts: tuple[Label, ...]
    behaviors: tuple[str, ...]
    feature_names: tuple[str, ...]
    period: Period
    sized: bool
    """Whether reference sizes were given; without them every size is 1, until a fit takes the
    sizes of large cells from their training counts."""
    has_effort: bool
    """Whether effort was given; without it every effort is 1, in the future too."""
    columns: Columns
    kind: str
    """The kind of frame the user handed over."""
    events: EventCounts | None = None
    """The same counts by the events' own context, where context columns were named."""
    everyone: Everyone | None = None
    """What all units counted, where these are some of them."""
    since: Int[np.ndarray, " unit"] | None = None
    """The day number at which each unit was first seen, where some came after the fit; on the days
    before they were not there, and their effort is 0."""
    special_days: SpecialDays = NO_SPECIAL_DAYS
    """Public holidays and the user's own special days, known for any date."""

    @classmethod
    def from_counts(
        cls,
        counts: IntoFrame,
        *,
        date: str = "date",
        unit: str | None = "unit",
        cohort: str | None = "cohort",
        behaviors: Sequence[str],
        count: str = "count",
        context: Sequence[str] = (),
        sizes: IntoFrame | Mapping[Label, float] | None = None,
        effort: IntoFrame | None = None,
        features: IntoFrame | None = None,
        country: str | None = None,
        special: IntoFrame | None = None,
        period: str = "day",
        units: Sequence[Label] | None = None,
        cohorts: Sequence[Label] | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
        duplicates: str = "refuse",
    ) -> "Panel":
        """Read a long table: one row per date, unit, cohort and joint pattern.

        Args:
            counts: the table, its rows in any order; dates without rows are
                dates on which nothing happened.
            unit, cohort: their columns, or `None` where there is only one.
            behaviors: one 0/1 column each; their order is the order in which
                a behaviour may depend on earlier ones.
            context: numeric columns that tell events of a cell apart (the hour, the place on
                the page); rows are then per date, unit, cohort, context and joint pattern, and
                `DGD(supervision="events")` learns from them.
            sizes: the cohorts' reference sizes n, as `{cohort: size}` or a table with
                `cohort` and `size` (and `unit` or `date` where sizes differ between them).
            effort: a table with `date`, `effort` and, where they matter, `unit`, `cohort`.
            features: a table keyed like `effort`; every other column is a feature.
            country: whose public holidays are special days, as an ISO code like "GB" (what the
                package `holidays` gives for the United Kingdom), "GB-ENG" or "US-CA".
            special: a table with `date` and `name`, one row per day that is special to you, like
                a sale, a closure or an outage; it comes before a public holiday.
            period: "hour", "day" or "week".
            units, cohorts: their labels in the order wanted, where the counts may not
                show them all; without them, what the counts hold, sorted.
            start, end: the first and last date observed, where nothing arrived on them.
            duplicates: "sum" adds up rows that speak of the same cell and pattern, as they
                do where only some of the table's behaviours are asked for.

        Effort, features and special days may reach past the last counted date;
        that part is what forecasts of those dates will use.
        """
        time = period_named(period)
        special_days = SpecialDays.read(country, special, time)
        table, kind = to_polars(counts, "counts")
        columns = Columns(
            date,
            "unit" if unit is None else unit,
            "cohort" if cohort is None else cohort,
            count,
        )
        if unit is None:
            table = table.with_columns(pl.lit("all").alias(columns.unit))
        if cohort is None:
            table = table.with_columns(pl.lit("all").alias(columns.cohort))
        table = grids.read_counts_table(
            table, columns, behaviors, context, time, duplicates, (start, end)
        )
        axes = Axes(
            grids.date_axis(table, date, time, start, end),
            grids.label_axis(table, columns.unit, units),
            grids.label_axis(table, columns.cohort, cohorts),
            time,
        )
        grids.refuse_grids_beyond_memory(axes, NUMBERS_OF_A_CELL)
        efforts = None if effort is None else grids.read_dated(effort, "effort", columns, time)
        known = None if features is None else grids.read_dated(features, "features", columns, time)
        known_axes = grids.known_axes(axes, columns, efforts, known)
        names = grids.feature_names_of(known, columns)
        grids.refuse_grids_beyond_memory(known_axes, len(names) + 1)
        panel = cls(
            counts=grids.pattern_counts(table, columns, axes, 2 ** len(behaviors)),
            size=grids.size_grid(sizes, columns, axes),
            effort=grids.effort_grid(efforts, columns, known_axes),
            features=grids.feature_grid(known, names, columns, known_axes),
            known_dates=known_axes.dates,
            units=axes.units,
            cohorts=axes.cohorts,
            behaviors=tuple(behaviors),
            feature_names=names,
            period=time,
            sized=sizes is not None,
            has_effort=effort is not None,
            columns=columns,
            kind=kind,
            events=events_of(table, context, columns, axes, 2 ** len(behaviors)),
            special_days=special_days,
        )
        grids.refuse_arrivals_without_effort(axes, panel.arrivals, panel.effort)
        return panel

    @classmethod
    def from_parquet(
        cls,
        folder: str | PathLike[str],
        *,
        shard: tuple[int, int] | None = None,
        behaviors: Sequence[str] | None = None,
        sizes: IntoFrame | Mapping[Label, float] | None = None,
        effort: IntoFrame | None = None,
        features: IntoFrame | None = None,
        country: str | None = None,
        special: IntoFrame | None = None,
        cohorts: Sequence[Label] | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
    ) -> "Panel":
        """Read a data set of `count_events(to=...)` or `partition_counts`, or a shard of it.

        Args:
            folder: the data set; dates, cohorts and behaviours of every shard are those of all.
            shard: `(i, n)` for the i-th of n readers, counted from 0: the units of the parts p
                with p % n == i. Together the shards are the whole.
            behaviors: some of the data set's, or its own in another order.
            sizes, effort, features: as in `from_counts`; units of other shards are passed over.
            country, special: as in `from_counts`.
            cohorts, start, end: as in `from_counts`, where there are more than the counts show.
        """
        known = (behaviors, sizes, effort, features, cohorts, start, end)
        found = counts_of_data_set(folder, shard, *known)
        return cls.from_counts(**found, country=country, special=special)

    @property
    def days(self) -> int:
        """How many periods have been counted."""
        return self.counts.shape[0]

    @property
    def dates(self) -> np.ndarray:
        """The counted dates."""
        return self.known_dates[: self.days]

    @property
    def patterns(self) -> Int[np.ndarray, "date unit cohort pattern"]:
        """C(y) on the whole grid; pattern number = sum of y_h 2^h."""
        return self.counts.grid

    @cached_property
    def arrivals(self) -> Int[np.ndarray, "date unit cohort"]:
        """N = sum over patterns of C(y)."""
        return self.counts.arrivals()

    @cached_property
    def behavior_counts(self) -> Int[np.ndarray, "date unit cohort behavior"]:
        """Y_h = sum over patterns of y_h C(y)."""
        return self.counts.behaviors()

    @property
    def series(self) -> tuple[str, ...]:
        """What is counted of every cell: arrivals, then the behaviours."""
        return (ARRIVALS, *self.behaviors)

    def index(self, moment: Moment, name: str) -> int:
        """The day number of a counted date given by the user as `name`."""
        steps = (self.period.parse(moment, name) - self.dates[0]) / self.period.step
        if steps != int(steps) or not 0 <= steps < self.days:
            raise InputError(
                f"{name} {moment} is not a {self.period.name} of the panel, which runs from "
                f"{self.dates[0]} to {self.dates[-1]}; choose one in that range."
            )
        return int(steps)

    def read_alike(
        self,
        counts: IntoFrame,
        *,
        effort: IntoFrame | None = None,
        features: IntoFrame | None = None,
        special: IntoFrame | None = None,
        start: Moment | None = None,
    ) -> "Panel":
        """Another table with the columns, behaviours and periods of this panel, for other days.

        Its units and cohorts are its own: those that it does not show are not in it.
        """
        table, _ = to_polars(counts, "counts")
        axes = ((self.columns.unit, self.units), (self.columns.cohort, self.cohorts))
        single = [name for name, labels in axes if name not in table and labels == ("all",)]
        return Panel.from_counts(
            counts,
            date=self.columns.date,
            unit=None if self.columns.unit in single else self.columns.unit,
            cohort=None if self.columns.cohort in single else self.columns.cohort,
            behaviors=self.behaviors,
            count=self.columns.count,
            context=() if self.events is None else self.events.names,
            effort=effort,
            features=features,
            country=self.special_days.country,
            special=special,
            period=self.period.name,
            start=start,
        )

    def through(self, moment: Moment) -> "Panel":
        """The panel as it stood at the end of `moment`: later counts are not yet known."""
        stop = self.index(moment, "moment") + 1
        events = None if self.events is None else self.events.between(0, stop)
        return replace(
            self,
            counts=self.counts.between(0, stop),
            size=self.size[:stop],
            events=events,
            everyone=None if self.everyone is None else self.everyone.through(stop),
        )

    @cached_property
    def together(self) -> Everyone:
        """What all units counted, those of which this panel holds nothing included."""
        return self.everyone or Everyone.of(self.counts, self.size, self.since)

    def with_future(
        self, effort: IntoFrame | None = None, features: IntoFrame | None = None
    ) -> "Panel":
        """The panel with effort and features for dates after the last counted one."""
        dates, efforts, known = _known_ahead(self, effort, features)
        return replace(
            self,
            known_dates=np.concatenate([self.dates, dates]),
            effort=np.concatenate([self.effort[: self.days], efforts]),
            features=np.concatenate([self.features[: self.days], known]),
        )

    def with_special(self, special: IntoFrame) -> "Panel":
        """The panel with more special days of the user's own, such as those of days ahead."""
        more = SpecialDays.read(None, special, self.period)
        return replace(self, special_days=self.special_days.merged(more))

    def explore(self) -> Exploration:
        """What the panel holds, and whether dynamics could beat an average on it at all.

        Nothing is fitted. Every behaviour's rate and the arrivals are held against their
        weekday means (in tables by hours, those of every hour of the week): whether they vary
        from day to day more than chance alone lets them, and whether yesterday tells about
        today. `report.exploration_chart` draws the result.
        """
        return explore(self)

    def to_frame(self, kind: str | None = None) -> Any:
        """The counts as the long table they were read from, context columns included; patterns
        that never occurred are left out."""
        return from_polars(rows_of_counts(self), kind or self.kind)

    def __repr__(self) -> str:
        special = self.special_days.described(self.dates)
        return (
            f"Panel({self.days} {self.period.name}s from {self.dates[0]} to {self.dates[-1]}, "
            f"{len(self.units)} units, {len(self.cohorts)} cohorts, "
            f"{len(self.behaviors)} behaviors, {self.arrivals.sum():,} arrivals"
            f"{f', {special}' if special else ''})"
        )

    def _repr_html_(self) -> str:
        tables = {"Totals of every cohort": cohort_totals(self)}
        return html_summary(repr(self), list(panel_in_sentences(self)), tables)


def _known_ahead(
    panel: Panel, effort: IntoFrame | None, features: IntoFrame | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The dates ahead, and the grids of their effort and features; refused where the panel was
    made with other tables."""
    last = panel.known_dates[panel.days - 1]
    _refuse_others(panel, effort, features, last)
    efforts = features_table = None
    if effort is not None:
        efforts = grids.read_dated(effort, "effort", panel.columns, panel.period)
    if features is not None:
        features_table = grids.read_dated(features, "features", panel.columns, panel.period)
    first = panel.period.range(last, 2)[1:]
    axes = Axes(first, panel.units, panel.cohorts, panel.period)
    ahead = grids.known_axes(axes, panel.columns, efforts, features_table)
    grid = grids.feature_grid(features_table, panel.feature_names, panel.columns, ahead)
    if grid.shape[-1] != len(panel.feature_names):
        raise InputError(
            f"features for the future are missing; the panel was made with "
            f"{', '.join(panel.feature_names)}: give the same columns for later dates."
        )
    return ahead.dates, grids.effort_grid(efforts, panel.columns, ahead), grid


def _refuse_others(
    panel: Panel, effort: IntoFrame | None, features: IntoFrame | None, last: np.datetime64
) -> None:
    if panel.has_effort and effort is None:
        raise InputError(
            f"effort after {last} is missing; the panel was made with an effort "
            "table: give effort for later dates too."
        )
    if effort is not None and not panel.has_effort:
        raise InputError(
            "effort was given, but the panel was made without it; leave it out, or make the "
            "panel with effort for every date and fit again."
        )
    if features is not None and not panel.feature_names:
        raise InputError(
            "features were given, but the panel was made without them; leave them out, or "
            "make the panel with features for every date and fit again."
        )
