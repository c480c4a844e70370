"""From a user's tables to the grids of a panel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.tables import checks
from dgd.tables.frames import to_polars
from dgd.tables.labels import Label
from dgd.tables.periods import Moment, Period

TAKEN = ("arrivals", "horizon", "pattern", "seed", "probability", "size", "effort")


@dataclass(frozen=True)
class Columns:
    """The user's own names for the columns of a counts table."""

    date: str
    unit: str
    cohort: str
    count: str

    @property
    def cell(self) -> list[str]:
        return [self.date, self.unit, self.cohort]


@dataclass(frozen=True)
class Axes:
    """The dates, units and cohorts of a panel."""

    dates: np.ndarray
    units: tuple[Label, ...]
    cohorts: tuple[Label, ...]
    period: Period

    def keys(self, columns: Columns) -> dict[str, Sequence[object]]:
        dates = self.period.series("", self.dates).to_list()
        return {columns.date: dates, columns.unit: self.units, columns.cohort: self.cohorts}

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.dates), len(self.units), len(self.cohorts)


def read_counts_table(
    table: pl.DataFrame,
    columns: Columns,
    behaviors: Sequence[str],
    context: Sequence[str],
    period: Period,
) -> pl.DataFrame:
    """The counts table, every column checked, with its pattern numbers."""
    checks.check_behavior_names(behaviors)
    check_context_names(context, (*columns.cell, columns.count, *behaviors))
    clash = [b for b in behaviors if b in TAKEN or b in (*columns.cell, columns.count)]
    if clash:
        raise InputError(f'behaviors names "{clash[0]}", which is in use; rename that column.')
    clash = [name for name in (*columns.cell, columns.count) if name in TAKEN]
    if clash:
        raise InputError(f'column "{clash[0]}" has a name dgd uses itself; rename that column.')
    checks.refuse_empty(table, "counts", "hand over at least one day of counts")
    table = checks.number_rows(table)
    table = checks.read_dates(table, "counts", columns.date, period)
    checks.read_labels(table, "counts", columns.unit)
    checks.read_labels(table, "counts", columns.cohort)
    table = checks.read_behaviors(table, "counts", behaviors)
    table = checks.read_counts(table, "counts", columns.count)
    for name in context:
        table = checks.read_values(table, "counts", name)
    keys = [*columns.cell, *context, *behaviors]
    checks.refuse_duplicates(table, "counts", keys, "a count")
    return table


def check_context_names(context: Sequence[str], taken: Sequence[str]) -> None:
    checks.refuse_text(context, "context")
    for index, name in enumerate(context):
        if name in taken or name in TAKEN or name in context[:index]:
            raise InputError(f'context names "{name}", which is in use; rename that column.')


def cell_of_rows(
    table: pl.DataFrame, columns: Columns, axes: Axes
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Day, unit and cohort number of every row."""
    moments = table[columns.date].to_numpy().astype(axes.dates.dtype)
    return (
        (moments - axes.dates[0]) // axes.period.step,
        label_indices(table[columns.unit], axes.units),
        label_indices(table[columns.cohort], axes.cohorts),
    )


def count_grid(table: pl.DataFrame, columns: Columns, axes: Axes, patterns: int) -> np.ndarray:
    """C(y) on the grid; cells without a row hold zero."""
    at = (*cell_of_rows(table, columns, axes), table["pattern"].to_numpy())
    grid = np.zeros((*axes.shape, patterns), np.int64)
    np.add.at(grid, at, table[columns.count].to_numpy())
    return grid


def date_axis(
    table: pl.DataFrame, column: str, period: Period, start: Moment | None, end: Moment | None
) -> np.ndarray:
    """Every period from the first to the last, those without rows included."""
    moments = table[column].to_numpy().astype(f"datetime64[{period.unit}]")
    first, last = moments.min(), moments.max()
    off = np.flatnonzero((moments - first) % period.step)
    if len(off):
        row = table[checks.ROW][int(off[0])]
        raise InputError(
            f"counts row {row}, column {column}: {moments[off[0]]} is not a whole number of "
            f"{period.name}s after {first}; start every {period.name} alike."
        )
    if start is not None:
        wanted = period.parse(start, "start")
        if wanted > first:
            raise InputError(
                f"start {start} is after the first counted date {first}; leave it out."
            )
        first -= ((first - wanted) // period.step) * period.step
    if end is not None:
        wanted = period.parse(end, "end")
        if wanted < last:
            raise InputError(f"end {end} is before the last counted date {last}; leave it out.")
        last = wanted
    return period.range(first, int((last - first) / period.step) + 1)


def label_axis(
    table: pl.DataFrame, column: str, expected: Sequence[Label] | None
) -> tuple[Label, ...]:
    """The labels of an axis: those expected, or those found, sorted."""
    if expected is None:
        return tuple(_label(x) for x in table[column].unique().sort().to_list())
    known = set(expected)
    found = table[column].unique().to_list()
    strange = pl.Series([x for x in found if _label(x) not in known], dtype=table.schema[column])
    unknown = pl.col(column).is_in(strange.implode())
    checks.refuse(table, "counts", column, unknown, "is not among the labels expected; add it.")
    return tuple(expected)


def size_grid(
    sizes: IntoFrame | Mapping[Label, float] | None, columns: Columns, axes: Axes
) -> np.ndarray:
    """Reference sizes on the grid; 1 where none were given."""
    if sizes is None:
        return np.ones(axes.shape)
    if isinstance(sizes, Mapping):
        given = [float(size) for size in sizes.values()]
        table = pl.DataFrame({columns.cohort: list(sizes), "size": given})
    else:
        table, _ = to_polars(sizes, "sizes")
    checks.refuse_empty(table, "sizes")
    table = checks.number_rows(table)
    if columns.date in table.columns:
        table = checks.read_dates(table, "sizes", columns.date, axes.period)
    checks.read_labels(table, "sizes", columns.cohort)
    table = checks.read_values(table, "sizes", "size")
    not_positive = "is not positive; a cohort's reference size is at least one person."
    checks.refuse(table, "sizes", "size", pl.col("size") <= 0, not_positive)
    values = checks.keyed_values(table, "sizes", ["size"], axes.keys(columns), columns.date)
    return np.broadcast_to(values[..., 0], axes.shape).copy()


def read_dated(frame: IntoFrame, name: str, columns: Columns, period: Period) -> pl.DataFrame:
    table = checks.number_rows(to_polars(frame, name)[0])
    checks.refuse_empty(table, name)
    return checks.read_dates(table, name, columns.date, period)


def last_date(table: pl.DataFrame, columns: Columns, period: Period) -> np.datetime64:
    moments = table[columns.date].to_numpy().astype(f"datetime64[{period.unit}]")
    return np.datetime64(moments.max())


def effort_grid(table: pl.DataFrame | None, columns: Columns, axes: Axes) -> np.ndarray:
    """Effort on the grid; 1 where none was given."""
    if table is None:
        return np.ones(axes.shape)
    table = checks.read_values(table, "effort", "effort")
    negative = "is negative; effort is 0 where nothing could arrive and positive elsewhere."
    checks.refuse(table, "effort", "effort", pl.col("effort") < 0, negative)
    values = checks.keyed_values(table, "effort", ["effort"], axes.keys(columns), columns.date)
    return np.broadcast_to(values[..., 0], axes.shape).copy()


def feature_names_of(table: pl.DataFrame | None, columns: Columns) -> tuple[str, ...]:
    if table is None:
        return ()
    names = tuple(c for c in table.columns if c not in (*columns.cell, checks.ROW))
    if not names:
        raise InputError("features has no column beside its keys; add one or leave it out.")
    return names


def feature_grid(
    table: pl.DataFrame | None, names: Sequence[str], columns: Columns, axes: Axes
) -> np.ndarray:
    """The user's features on the grid."""
    if table is None:
        return np.zeros((*axes.shape, 0))
    for name in names:
        table = checks.read_values(table, "features", name)
    values = checks.keyed_values(table, "features", names, axes.keys(columns), columns.date)
    return np.broadcast_to(values, (*axes.shape, len(names))).copy()


def _label(value: object) -> Label:
    return value if isinstance(value, (str, int)) else str(value)


def label_indices(column: pl.Series, labels: Sequence[Label]) -> np.ndarray:
    """Which of `labels` stands in each row of `column`."""
    order = {label: index for index, label in enumerate(labels)}
    distinct = {value: order[_label(value)] for value in column.unique()}
    return column.replace_strict(distinct, return_dtype=pl.Int64).to_numpy()
