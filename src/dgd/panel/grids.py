"""From a user's tables to the grids of a panel."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import polars as pl
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.machine.memory import memory, shown_bytes
from dgd.panel.pattern_counts import SHARE_OF_MEMORY, PatternCounts
from dgd.tables import checks, dates, refusing
from dgd.tables.frames import from_mapping, to_polars
from dgd.tables.labels import Label
from dgd.tables.periods import Moment, Period

SMALLEST_SIZE, LARGEST_SIZE = 1e-9, 1e15
"""What a cohort's reference size can be: from small shares of something to all there is."""
SMALLEST_EFFORT, LARGEST_EFFORT = 1e-9, 1e9
"""Effort is a multiple of what is usual; a larger number is a mistake or a size."""
DUPLICATES = ("refuse", "sum")
"""What to do where two rows speak of one cell and pattern."""
ARRIVALS = "arrivals"
"""The series that is not a behaviour."""
TAKEN = (ARRIVALS, "horizon", "pattern", "seed", "probability", "size", "effort")


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
    duplicates: str,
    ends: tuple[Moment | None, Moment | None] = (None, None),
) -> pl.DataFrame:
    """The counts table, every column checked, with its pattern numbers."""
    if not isinstance(duplicates, str) or duplicates not in DUPLICATES:
        raise InputError(f'duplicates is "{duplicates}"; choose {" or ".join(DUPLICATES)}.')
    check_counts_names(columns, behaviors, context)
    refusing.refuse_empty(table, "counts", "hand over at least one day of counts")
    table = refusing.number_rows(table)
    named = [*columns.cell, *behaviors, columns.count, *context]
    refusing.require_columns(table, "counts", named)
    table = dates.read_dates(table, "counts", columns.date, period, ends)
    checks.read_labels(table, "counts", columns.unit)
    checks.read_labels(table, "counts", columns.cohort)
    table = checks.read_behaviors(table, "counts", behaviors)
    table = checks.read_counts(table, "counts", columns.count)
    for name in context:
        table = checks.read_values(table, "counts", name)
    keys = [*columns.cell, *context, *behaviors]
    if duplicates == "sum":
        summed = table.group_by(keys, maintain_order=True)
        return summed.agg(
            pl.col(columns.count).sum(), pl.col("pattern").first(), pl.col(refusing.ROW).first()
        )
    refusing.refuse_duplicates(
        table,
        "counts",
        keys,
        "a count",
        'add them up, drop one, or say duplicates="sum" to have them added up',
        alike=[*columns.cell, *context, "pattern"],
    )
    return table


def check_counts_names(columns: Columns, behaviors: Sequence[str], context: Sequence[str]) -> None:
    """Refuse columns of a counts table that have two meanings, or one of dgd's own."""
    for argument, column in asdict(columns).items():
        refusing.refuse_other_than_text(column, argument)
    refusing.refuse_repeated((*columns.cell, columns.count), "the counts table")
    checks.check_behavior_names(behaviors)
    check_context_names(context, (*columns.cell, columns.count, *behaviors))
    clash = [b for b in behaviors if b in TAKEN or b in (*columns.cell, columns.count)]
    if clash:
        raise InputError(f'behaviors names "{clash[0]}", which is in use; rename that column.')
    clash = [name for name in (*columns.cell, columns.count) if name in TAKEN]
    if clash:
        raise InputError(f'column "{clash[0]}" has a name dgd uses itself; rename that column.')


def check_context_names(context: Sequence[str], taken: Sequence[str]) -> None:
    refusing.refuse_text(context, "context")
    if not isinstance(context, Sequence):
        raise InputError(f"context is {refusing.shown(context)}; give a list of column names.")
    for name in context:
        refusing.refuse_other_than_text(name, "a name in context")
    for index, name in enumerate(context):
        if name in taken or name in TAKEN or name in context[:index]:
            raise InputError(f'context names "{name}", which is in use; rename that column.')


def cell_of_rows(
    table: pl.DataFrame, columns: Columns, axes: Axes
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Day, unit and cohort number of every row."""
    moments = table[columns.date].to_numpy().astype(axes.dates.dtype)
    return (
        (moments - axes.dates[0]).astype(np.int64) // axes.period.step.astype(np.int64),
        label_indices(table[columns.unit], axes.units),
        label_indices(table[columns.cohort], axes.cohorts),
    )


def pattern_counts(
    table: pl.DataFrame, columns: Columns, axes: Axes, patterns: int
) -> PatternCounts:
    """C(y) of every cell that has rows."""
    pattern, count = table["pattern"].to_numpy(), table[columns.count].to_numpy()
    at = cell_of_rows(table, columns, axes)
    return PatternCounts.of_rows((*axes.shape, patterns), *at, pattern, count)


def date_axis(
    table: pl.DataFrame, column: str, period: Period, start: Moment | None, end: Moment | None
) -> np.ndarray:
    """Every period from the first to the last, those without rows included."""
    if start is None or end is None:
        dates.refuse_sparse_dates(table, "counts", column, period)
    moments = dates.distinct_dates(table, column, period)
    first, last = moments[0], moments[-1]
    off = period.series("", moments[(moments - first) % period.step != np.timedelta64(0)])
    if len(off):
        wrong = table.filter(pl.col(column).is_in(off.implode())).row(0, named=True)
        moment = period.parse(wrong[column], column)
        raise InputError(
            f"counts row {wrong[refusing.ROW]}, column {column}: {moment} is not a whole number of "
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


def refuse_grids_beyond_memory(axes: Axes, numbers: int) -> None:
    """Refuse cells that this machine could not hold, before they are made."""
    days, units, cohorts = axes.shape
    needed, there = 8 * days * units * cohorts * numbers, memory()
    if there is not None and needed > SHARE_OF_MEMORY * there:
        raise InputError(
            f"{days:,} {axes.period.name}s, {units:,} units and {cohorts:,} cohorts need "
            f"{shown_bytes(needed)}, and this machine has {shown_bytes(there)}; merge the rarest "
            "units or cohorts, hand over fewer dates, or read shards of them on several machines."
        )


def label_axis(
    table: pl.DataFrame, column: str, expected: Sequence[Label] | None
) -> tuple[Label, ...]:
    """The labels of an axis: those expected, or those found, sorted."""
    if expected is None:
        return tuple(_label(x) for x in table[column].unique().sort().to_list())
    expected = _labels_given(expected, column)
    refusing.refuse_repeated(expected, f"the list of labels expected in column {column}")
    known = set(expected)
    found = table[column].unique().to_list()
    strange = pl.Series([x for x in found if _label(x) not in known], dtype=table.schema[column])
    unknown = pl.col(column).is_in(strange.implode())
    refusing.refuse(table, "counts", column, unknown, "is not among the labels expected; add it.")
    return expected


def _labels_given(expected: Iterable[Label], column: str) -> tuple[Label, ...]:
    """Labels as a user lists them, whole numbers of NumPy among them; nothing else is one."""
    refusing.refuse_text(expected, f"labels of {column}")
    if not isinstance(expected, Iterable):
        raise InputError(
            f"labels of {column} are {refusing.shown(expected)}; give a list of labels."
        )
    labels = tuple(x.item() if isinstance(x, np.generic) else x for x in expected)
    for label in labels:
        if isinstance(label, bool) or not isinstance(label, (str, int)):
            raise InputError(
                f"labels of {column} name {refusing.shown(label)}, which is no label; give texts "
                "or whole numbers."
            )
    if len({isinstance(label, str) for label in labels}) > 1:
        raise InputError(
            f"labels of {column} are texts and whole numbers; give one kind, as the column has."
        )
    return labels


def size_grid(
    sizes: IntoFrame | Mapping[Label, float] | None, columns: Columns, axes: Axes
) -> np.ndarray:
    """Reference sizes on the grid; 1 where none were given."""
    if sizes is None:
        return np.broadcast_to(1.0, axes.shape)
    if isinstance(sizes, Mapping):
        table = from_mapping(sizes, "sizes", columns.cohort, "size")
    else:
        table, _ = to_polars(sizes, "sizes")
    refusing.refuse_empty(table, "sizes")
    table = refusing.number_rows(table)
    if columns.date in table.columns:
        table = dates.read_dates(table, "sizes", columns.date, axes.period)
    checks.read_labels(table, "sizes", columns.cohort)
    table = checks.read_values(table, "sizes", "size")
    not_positive = "is not positive; a cohort's reference size is at least one person."
    refusing.refuse(table, "sizes", "size", pl.col("size") <= 0, not_positive)
    bounds = f"is not a size; give one from {SMALLEST_SIZE:g} to {LARGEST_SIZE:g}."
    outside = (pl.col("size") < SMALLEST_SIZE) | (pl.col("size") > LARGEST_SIZE)
    refusing.refuse(table, "sizes", "size", outside, bounds)
    values = checks.keyed_values(table, "sizes", ["size"], axes.keys(columns), columns.date)
    return np.broadcast_to(values[..., 0], axes.shape)


def read_dated(frame: IntoFrame, name: str, columns: Columns, period: Period) -> pl.DataFrame:
    table = refusing.number_rows(to_polars(frame, name)[0])
    refusing.refuse_empty(table, name)
    return dates.read_dates(table, name, columns.date, period)


def last_date(table: pl.DataFrame, columns: Columns, period: Period) -> np.datetime64:
    moments = table[columns.date].to_numpy().astype(f"datetime64[{period.unit}]")
    return np.datetime64(moments.max())


def effort_grid(table: pl.DataFrame | None, columns: Columns, axes: Axes) -> np.ndarray:
    """Effort on the grid; 1 where none was given."""
    if table is None:
        return np.broadcast_to(1.0, axes.shape)
    table = checks.read_values(table, "effort", "effort")
    negative = "is negative; effort is 0 where nothing could arrive and positive elsewhere."
    refusing.refuse(table, "effort", "effort", pl.col("effort") < 0, negative)
    bounds = f"is not an effort; give 0 or a number from {SMALLEST_EFFORT:g} to {LARGEST_EFFORT:g}."
    outside = (pl.col("effort") > LARGEST_EFFORT) | (
        (pl.col("effort") > 0) & (pl.col("effort") < SMALLEST_EFFORT)
    )
    refusing.refuse(table, "effort", "effort", outside, bounds)
    values = checks.keyed_values(table, "effort", ["effort"], axes.keys(columns), columns.date)
    return np.broadcast_to(values[..., 0], axes.shape)


def feature_names_of(table: pl.DataFrame | None, columns: Columns) -> tuple[str, ...]:
    if table is None:
        return ()
    names = tuple(c for c in table.columns if c not in (*columns.cell, refusing.ROW))
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
    return np.broadcast_to(values, (*axes.shape, len(names)))


def _label(value: object) -> Label:
    return value if isinstance(value, (str, int)) else str(value)


def label_indices(column: pl.Series, labels: Sequence[Label]) -> np.ndarray:
    """Which of `labels` stands in each row of `column`."""
    if column.dtype == pl.String:
        known = pl.Enum([str(label) for label in labels])
        return column.cast(known).to_physical().cast(pl.Int64).to_numpy()
    order = {label: index for index, label in enumerate(labels)}
    distinct = column.unique()
    places = pl.Series([order[_label(value)] for value in distinct.to_list()], dtype=pl.Int64)
    return column.replace_strict(distinct, places, return_dtype=pl.Int64).to_numpy()


def refuse_arrivals_without_effort(axes: Axes, arrivals: np.ndarray, effort: np.ndarray) -> None:
    """Refuse counts of cells that were said to be impossible."""
    wrong = np.argwhere((arrivals > 0) & (effort[: len(arrivals)] == 0))
    if len(wrong):
        day, unit, cohort = wrong[0]
        raise InputError(
            f"effort for {axes.dates[day]}, unit {axes.units[unit]}, cohort "
            f"{axes.cohorts[cohort]} is 0 but the counts have "
            f"{arrivals[day, unit, cohort]} arrivals there; give a positive effort."
        )


def known_axes(axes: Axes, columns: Columns, *given: pl.DataFrame | None) -> Axes:
    """`axes` with its dates reaching as far as every table given reaches."""
    ends = [last_date(t, columns, axes.period) for t in given if t is not None]
    last = max(axes.dates[-1], min(ends)) if ends else axes.dates[-1]
    steps = int((last - axes.dates[0]) / axes.period.step) + 1
    return replace(axes, dates=axes.period.range(axes.dates[0], steps))
