"""Panel: counts and known inputs on a grid of dates, units and cohorts.

The one form in which the rest of dgd sees data. A panel is made from tables,
checked when it is made, and never changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float, Int
from narwhals.typing import IntoFrame

from dgd import tables
from dgd.errors import InputError
from dgd.frames import from_polars, to_polars
from dgd.patterns import behavior_bits
from dgd.periods import Moment, Period, period_named

Label = str | int


@dataclass(frozen=True, eq=False)
class Panel:
    """Counts of joint behaviour patterns per date, unit and cohort.

    `known_dates` runs on past the last counted date where effort or features
    were given for the future; forecasts draw on that part.
    """

    patterns: Int[np.ndarray, "date unit cohort pattern"]
    """C(y): how many arrivals showed each pattern; pattern number = sum of y_h 2^h."""
    size: Float[np.ndarray, "known_date unit cohort"]
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
    """Whether reference sizes were given; without them every size is 1."""
    columns: Mapping[str, str]
    """The user's own names for date, unit, cohort and count."""
    kind: str
    """The kind of frame the user handed over."""

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
        sizes: IntoFrame | Mapping[Label, float] | None = None,
        effort: IntoFrame | None = None,
        features: IntoFrame | None = None,
        period: str = "day",
        units: Sequence[Label] | None = None,
        cohorts: Sequence[Label] | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
    ) -> "Panel":
        """Read a long table: one row per date, unit, cohort and joint pattern.

        **Arguments:**

        - `counts`: the table, its rows in any order; dates without rows are
            dates on which nothing happened.
        - `unit`, `cohort`: their columns, or `None` where there is only one.
        - `behaviors`: one 0/1 column each; their order is the order in which
            a behaviour may depend on earlier ones.
        - `sizes`: the cohorts' reference sizes n, as `{cohort: size}` or a table with
            `cohort` and `size` (and `unit` where sizes differ between units).
        - `effort`: a table with `date`, `effort` and, where they matter, `unit`, `cohort`.
        - `features`: a table keyed like `effort`; every other column is a feature.
        - `period`: "hour", "day" or "week".
        - `units`, `cohorts`: their labels in the order wanted, where the counts may not
            show them all; without them, what the counts hold, sorted.
        - `start`, `end`: the first and last date observed, where nothing arrived on them.

        Effort and features may reach past the last counted date; that part is
        what forecasts of those dates will use.
        """
        time = period_named(period)
        table, kind = to_polars(counts, "counts")
        names = {"date": date, "unit": unit or "unit", "cohort": cohort or "cohort", "count": count}
        _check_names(names, behaviors)
        if unit is None:
            table = table.with_columns(pl.lit("all").alias("unit"))
        if cohort is None:
            table = table.with_columns(pl.lit("all").alias("cohort"))
        table = tables.number_rows(table)
        if table.height == 0:
            raise InputError("counts has no rows; hand over at least one day of counts.")
        table = tables.read_dates(table, "counts", date, time)
        tables.read_labels(table, "counts", names["unit"])
        tables.read_labels(table, "counts", names["cohort"])
        table = tables.read_behaviors(table, "counts", behaviors)
        table = tables.read_counts(table, "counts", count)
        cell = [date, names["unit"], names["cohort"]]
        tables.refuse_duplicates(table, "counts", [*cell, *behaviors], "a count")

        dates = _date_grid(table, date, time, start, end)
        units = _labels(table, names["unit"], units)
        cohorts = _labels(table, names["cohort"], cohorts)
        patterns = np.zeros((len(dates), len(units), len(cohorts), 2 ** len(behaviors)), np.int64)
        at = (
            _steps(table[date], dates[0], time),
            _places(table[names["unit"]], units),
            _places(table[names["cohort"]], cohorts),
            table["pattern"].to_numpy(),
        )
        patterns[at] = table[count].to_numpy()

        known_dates, effort_values, feature_values, feature_names = _known_inputs(
            effort, features, names, dates, units, cohorts, time
        )
        size = _sizes(sizes, names, units, cohorts)
        shape = (len(known_dates), len(units), len(cohorts))
        panel = cls(
            patterns=patterns,
            size=np.broadcast_to(size[None], shape).copy(),
            effort=np.broadcast_to(effort_values, shape).copy(),
            features=np.broadcast_to(feature_values, (*shape, len(feature_names))).copy(),
            known_dates=known_dates,
            units=units,
            cohorts=cohorts,
            behaviors=tuple(behaviors),
            feature_names=feature_names,
            period=time,
            sized=sizes is not None,
            columns=names,
            kind=kind,
        )
        panel._refuse_arrivals_without_effort()
        return panel

    def _refuse_arrivals_without_effort(self) -> None:
        wrong = np.argwhere((self.arrivals > 0) & (self.effort[: self.days] == 0))
        if len(wrong):
            day, unit, cohort = wrong[0]
            raise InputError(
                f"effort for {self.dates[day]}, unit {self.units[unit]}, cohort "
                f"{self.cohorts[cohort]} is 0 but the counts have "
                f"{self.arrivals[day, unit, cohort]} arrivals there; give a positive effort."
            )

    @property
    def days(self) -> int:
        """How many periods have been counted."""
        return len(self.patterns)

    @property
    def dates(self) -> np.ndarray:
        return self.known_dates[: self.days]

    @cached_property
    def arrivals(self) -> Int[np.ndarray, "date unit cohort"]:
        """N = sum over patterns of C(y)."""
        return self.patterns.sum(-1)

    @cached_property
    def behavior_counts(self) -> Int[np.ndarray, "date unit cohort behavior"]:
        """Y_h = sum over patterns of y_h C(y)."""
        return self.patterns @ behavior_bits(len(self.behaviors)).astype(np.int64)

    def place(self, moment: Moment, name: str) -> int:
        """The index of a counted date given by the user as `name`."""
        parsed = self.period.parse(moment, name)
        steps = (parsed - self.dates[0]) / self.period.step
        if steps != int(steps) or not 0 <= steps < self.days:
            raise InputError(
                f"{name} {moment} is not a {self.period.name} of the panel, which runs from "
                f"{self.dates[0]} to {self.dates[-1]}; choose one in that range."
            )
        return int(steps)

    def through(self, moment: Moment) -> "Panel":
        """The panel as it stood at the end of `moment`; later counts become unknown."""
        return replace(self, patterns=self.patterns[: self.place(moment, "moment") + 1])

    def to_frame(self, kind: str | None = None) -> Any:
        """The counts as a long table, patterns that never occurred left out."""
        day, unit, cohort, pattern = np.nonzero(self.patterns)
        bits = behavior_bits(len(self.behaviors)).astype(np.int64)
        names = self.columns
        table = pl.DataFrame(
            [
                self.period.series(names["date"], self.dates[day]),
                pl.Series(names["unit"], [self.units[i] for i in unit]),
                pl.Series(names["cohort"], [self.cohorts[i] for i in cohort]),
                *(pl.Series(b, bits[pattern, h]) for h, b in enumerate(self.behaviors)),
                pl.Series(names["count"], self.patterns[day, unit, cohort, pattern]),
            ]
        )
        return from_polars(table, kind or self.kind)

    def __repr__(self) -> str:
        return (
            f"Panel({self.days} {self.period.name}s from {self.dates[0]} to {self.dates[-1]}, "
            f"{len(self.units)} units, {len(self.cohorts)} cohorts, "
            f"{len(self.behaviors)} behaviors, {self.arrivals.sum():,} arrivals)"
        )


def _check_names(names: Mapping[str, str], behaviors: Sequence[str]) -> None:
    for behavior in behaviors:
        if behavior in names.values() or behavior in ("arrivals", "horizon", "pattern", "seed"):
            raise InputError(
                f'behaviors names "{behavior}", which dgd uses for another column; rename it.'
            )


def _date_grid(
    table: pl.DataFrame, column: str, period: Period, start: Moment | None, end: Moment | None
) -> np.ndarray:
    moments = table[column].to_numpy().astype(f"datetime64[{period.unit}]")
    first, last = moments.min(), moments.max()
    off = np.flatnonzero((moments - first) % period.step)
    if len(off):
        raise InputError(
            f"counts row {table[tables.ROW][int(off[0])]}, column {column}: {moments[off[0]]} is not a "
            f"whole number of {period.name}s after {first}; start every {period.name} alike."
        )
    if start is not None:
        parsed = period.parse(start, "start")
        if parsed > first:
            raise InputError(f"start {start} is after the first counted date {first}; leave it out.")
        first -= ((first - parsed) // period.step) * period.step
    if end is not None:
        parsed = period.parse(end, "end")
        if parsed < last:
            raise InputError(f"end {end} is before the last counted date {last}; leave it out.")
        last = parsed
    return period.range(first, int((last - first) / period.step) + 1)


def _steps(column: pl.Series, first: np.datetime64, period: Period) -> np.ndarray:
    moments = column.to_numpy().astype(f"datetime64[{period.unit}]")
    return np.asarray((moments - first) // period.step)


def _labels(
    table: pl.DataFrame, column: str, expected: Sequence[Label] | None
) -> tuple[Label, ...]:
    if expected is None:
        found = table[column].unique().sort().to_list()
        return tuple(x if isinstance(x, (str, int)) else str(x) for x in found)
    unknown = ~pl.col(column).is_in(pl.Series(list(expected)).implode())
    tables.refuse(table, "counts", column, unknown, "is not among the labels expected; add it.")
    return tuple(expected)


def _places(column: pl.Series, labels: tuple[Label, ...]) -> np.ndarray:
    order = {label: place for place, label in enumerate(labels)}
    distinct = {x: order[x if isinstance(x, (str, int)) else str(x)] for x in column.unique()}
    return column.replace_strict(distinct, return_dtype=pl.Int64).to_numpy()


def _sizes(
    sizes: IntoFrame | Mapping[Label, float] | None,
    names: Mapping[str, str],
    units: tuple[Label, ...],
    cohorts: tuple[Label, ...],
) -> np.ndarray:
    """Reference sizes per unit and cohort; 1 where none were given."""
    if sizes is None:
        return np.ones((len(units), len(cohorts)))
    if isinstance(sizes, Mapping):
        table = pl.DataFrame({names["cohort"]: list(sizes), "size": list(sizes.values())})
    else:
        table, _ = to_polars(sizes, "sizes")
    table = tables.number_rows(table)
    tables.read_labels(table, "sizes", names["cohort"])
    table = tables.read_values(table, "sizes", "size")
    not_positive = "is not positive; a cohort's reference size is at least one person."
    tables.refuse(table, "sizes", "size", pl.col("size") <= 0, not_positive)
    keys = {names["unit"]: units, names["cohort"]: cohorts}
    values = tables.keyed_values(table, "sizes", ["size"], keys, date_key=None)[..., 0]
    return np.broadcast_to(values, (len(units), len(cohorts))).copy()


def _known_inputs(
    effort: IntoFrame | None,
    features: IntoFrame | None,
    names: Mapping[str, str],
    dates: np.ndarray,
    units: tuple[Label, ...],
    cohorts: tuple[Label, ...],
    period: Period,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[str, ...]]:
    """Effort and features on the counted dates and on every later date both tables reach."""
    given = {}
    ends = []
    for name, frame in (("effort", effort), ("features", features)):
        if frame is None:
            continue
        table = tables.number_rows(to_polars(frame, name)[0])
        table = tables.read_dates(table, name, names["date"], period)
        given[name] = table
        ends.append(table[names["date"]].to_numpy().astype(dates.dtype).max())
    last = max(dates[-1], min(ends)) if ends else dates[-1]
    known_dates = period.range(dates[0], int((last - dates[0]) / period.step) + 1)
    keys = {
        names["date"]: period.series("", known_dates).to_list(),
        names["unit"]: units,
        names["cohort"]: cohorts,
    }
    effort_values = np.ones((1, 1, 1))
    if "effort" in given:
        table = tables.read_values(given["effort"], "effort", "effort")
        negative = "is negative; effort is 0 where nothing could arrive and positive elsewhere."
        tables.refuse(table, "effort", "effort", pl.col("effort") < 0, negative)
        effort_values = tables.keyed_values(table, "effort", ["effort"], keys, names["date"])[..., 0]
    feature_values: np.ndarray = np.zeros((1, 1, 1, 0))
    feature_names: tuple[str, ...] = ()
    if "features" in given:
        table = given["features"]
        feature_names = tuple(c for c in table.columns if c not in keys and c != tables.ROW)
        if not feature_names:
            raise InputError("features has no column beside its keys; add one or leave it out.")
        for column in feature_names:
            table = tables.read_values(table, "features", column)
        feature_values = tables.keyed_values(table, "features", feature_names, keys, names["date"])
    return known_dates, effort_values, feature_values, feature_names
