"""A panel is the same whatever the table's kind and order, and keeps what it was given."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dgd
from dgd.panel.panel import Panel
from dgd.tables.frames import from_polars
from support.small_panel import BEHAVIORS, ROWS, assert_same, counts, day, make

KINDS = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.Table}


def test_every_count_lands_in_its_own_cell() -> None:
    panel = make()
    assert panel.units == ("north", "south")
    assert panel.cohorts == ("new", "old")
    assert panel.patterns.sum() == sum(row[-1] for row in ROWS)
    for d, unit, cohort, click, like, count in ROWS:
        cell = (d, panel.units.index(unit), panel.cohorts.index(cohort), click + 2 * like)
        assert panel.patterns[cell] == count


def test_arrivals_and_behavior_counts_add_up_the_patterns() -> None:
    panel = make()
    assert panel.arrivals[0, 0, 0] == 7
    assert panel.behavior_counts[0, 0, 0].tolist() == [2, 0]
    assert panel.behavior_counts[3, 1, 0].tolist() == [1, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_gives_the_same_panel(kind: str) -> None:
    assert_same(make(from_polars(counts(), kind)), make())


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_handed_over_comes_back(kind: str) -> None:
    panel = make(from_polars(counts(), kind))
    assert isinstance(panel.to_frame(), KINDS[kind])
    assert_same(make(panel.to_frame()), panel)


def test_another_kind_may_be_asked_for() -> None:
    assert isinstance(make().to_frame("pandas"), pd.DataFrame)


def test_the_long_table_holds_every_count_given() -> None:
    back = make().to_frame()
    assert back.sort(back.columns).rows() == counts().sort(back.columns).rows()


def test_rows_may_come_in_any_order() -> None:
    shuffled = counts().sample(fraction=1.0, shuffle=True, seed=4)
    assert shuffled.rows() != counts().rows()
    assert_same(make(shuffled), make())


@pytest.mark.parametrize(
    "column",
    [
        pl.col("date").dt.to_string("%Y-%m-%d"),
        pl.col("date").cast(pl.Datetime("ms")),
        pl.col("date").cast(pl.Datetime("us")).dt.replace_time_zone("Asia/Shanghai"),
    ],
    ids=["text", "datetime", "datetime with zone"],
)
def test_dates_may_be_written_in_any_usual_form(column: pl.Expr) -> None:
    assert_same(make(counts().with_columns(column)), make())


def test_pandas_objects_and_categories_are_read_like_plain_columns() -> None:
    table = pd.DataFrame(counts().to_dict(as_series=False))
    table["date"] = pd.Series(counts()["date"].to_list(), dtype=object)
    table["cohort"] = table["cohort"].astype("category")
    assert_same(make(table), make())


@pytest.mark.parametrize("dtype", [pl.Boolean, pl.Float64, pl.UInt8])
def test_behaviors_may_be_true_and_false_or_any_numbers(dtype: Any) -> None:
    assert_same(make(counts().with_columns(pl.col(BEHAVIORS).cast(dtype))), make())


def test_whole_counts_may_be_floats() -> None:
    assert_same(make(counts().with_columns(pl.col("count").cast(pl.Float64))), make())


def test_missing_dates_are_days_on_which_nothing_happened() -> None:
    panel = make()
    assert panel.dates.tolist() == [day(d) for d in range(4)]
    assert panel.arrivals[2].sum() == 0


def test_start_and_end_add_days_on_which_nothing_happened() -> None:
    panel = make(start="2022-03-30", end="2022-04-06")
    assert panel.days == 8
    assert panel.dates[0] == np.datetime64("2022-03-30")
    assert panel.arrivals[:2].sum() == panel.arrivals[-2:].sum() == 0
    assert np.array_equal(panel.arrivals[2:6], make().arrivals)


def test_without_units_and_cohorts_there_is_one_of_each() -> None:
    table = counts().group_by("date", *BEHAVIORS).agg(pl.col("count").sum())
    panel = make(table, unit=None, cohort=None)
    assert panel.units == panel.cohorts == ("all",)
    assert np.array_equal(panel.patterns[:, 0, 0], make().patterns.sum((1, 2)))
    assert_same(make(panel.to_frame()), panel)


def test_columns_may_have_names_of_the_users_own() -> None:
    own = {"date": "when", "unit": "shop", "cohort": "segment", "count": "n"}
    panel = make(counts().rename(own), **own)
    assert_same(panel, make())
    assert panel.to_frame().columns == ["when", "shop", "segment", *BEHAVIORS, "n"]


def test_labels_may_be_numbers() -> None:
    panel = make(
        counts().with_columns(unit=pl.col("unit").replace_strict({"north": 10, "south": 9})),
        sizes={"new": 3, "old": 4},
    )
    assert panel.units == (9, 10)
    assert np.array_equal(panel.patterns, make().patterns[:, ::-1])


def test_labels_given_set_the_order_and_may_go_beyond_the_counts() -> None:
    panel = make(units=["south", "east", "north"], cohorts=["old", "new"])
    assert panel.units == ("south", "east", "north")
    assert panel.cohorts == ("old", "new")
    assert panel.arrivals[:, 1].sum() == 0
    assert np.array_equal(panel.patterns[:, [2, 0]], make().patterns[:, :, ::-1])


def test_hours_are_counted_one_by_one() -> None:
    table = counts().with_columns(
        date=pl.Series([datetime(2022, 4, 1, 22 + d // 3, 0) for d, *_ in ROWS])
    )
    panel = make(table, period="hour")
    assert panel.dates.tolist() == [datetime(2022, 4, 1, 22), datetime(2022, 4, 1, 23)]
    assert panel.arrivals.sum((1, 2)).tolist() == [14, 8]


def test_hours_go_into_a_frame_and_back() -> None:
    table = counts().with_columns(
        date=pl.Series([datetime(2022, 4, 1, 22) + timedelta(hours=d) for d, *_ in ROWS])
    )
    panel = make(table, period="hour", sizes={"new": 3, "old": 4})
    assert panel.days == 4
    assert panel.to_frame().schema["date"] == pl.Datetime("us")
    assert_same(make(panel.to_frame(), period="hour", sizes={"new": 3, "old": 4}), panel)


def test_weeks_are_counted_one_by_one() -> None:
    table = counts().with_columns(date=pl.Series([day(7 * d) for d, *_ in ROWS]))
    panel = make(table, period="week")
    assert panel.dates.tolist() == [day(7 * week) for week in range(4)]
    assert np.array_equal(panel.patterns, make().patterns)
    assert_same(make(panel.to_frame(), period="week"), panel)


def test_through_the_last_date_changes_nothing() -> None:
    assert_same(make().through(day(3)), make())


def test_a_date_has_its_index() -> None:
    panel = make()
    assert [panel.index(date, "origin") for date in panel.dates] == [0, 1, 2, 3]


def test_a_drawn_panel_survives_its_own_table(drawn: dgd.Simulated) -> None:
    panel = drawn.panel
    back = Panel.from_counts(
        panel.to_frame(),
        behaviors=panel.behaviors,
        cohorts=panel.cohorts,
        sizes=drawn.sizes_to_frame(),
    )
    assert np.array_equal(back.patterns, panel.patterns)
    assert np.array_equal(back.size, panel.size)
