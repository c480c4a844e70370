"""Sizes, effort and features: in any form, by date or unit, and beyond the last counted day."""

import numpy as np
import polars as pl
import pytest

from dgd.tables.frames import from_polars
from support.small_panel import assert_same, by_date, day, make

SIZES = {"new": 30.0, "old": 50.0}


def test_sizes_may_be_a_mapping() -> None:
    panel = make(sizes=SIZES)
    assert panel.sized
    assert (panel.size == [30.0, 50.0]).all()
    assert panel.size.shape == (4, 2, 2)


def test_sizes_may_mix_whole_and_broken_numbers() -> None:
    assert (make(sizes={"new": 30, "old": 50.5}).size == [30.0, 50.5]).all()


def test_without_sizes_every_size_is_one() -> None:
    panel = make()
    assert not panel.sized
    assert (panel.size == 1.0).all()


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_sizes_may_be_a_table_in_any_order(kind: str) -> None:
    table = pl.DataFrame({"cohort": ["old", "new"], "size": [50, 30]})
    assert_same(make(sizes=from_polars(table, kind)), make(sizes=SIZES))


def test_sizes_may_differ_between_units() -> None:
    table = pl.DataFrame(
        {
            "unit": ["south", "south", "north", "north"],
            "cohort": ["new", "old", "new", "old"],
            "size": [1.0, 2.0, 3.0, 4.0],
        }
    )
    assert (make(sizes=table).size == [[3.0, 4.0], [1.0, 2.0]]).all()


def test_sizes_may_differ_between_dates() -> None:
    table = by_date("size", [10.0, 11.0, 12.0, 13.0]).join(
        pl.DataFrame({"cohort": ["new", "old"], "times": [1.0, 2.0]}), how="cross"
    )
    panel = make(sizes=table.with_columns(pl.col("size") * pl.col("times")))
    expected = np.array([10.0, 11.0, 12.0, 13.0])[:, None, None] * [[1.0, 2.0]]
    assert np.array_equal(panel.size, np.broadcast_to(expected, (4, 2, 2)))


def test_effort_of_a_date_holds_for_every_unit_and_cohort() -> None:
    panel = make(effort=by_date("effort", [1.0, 2.0, 0.0, 4.0]))
    assert panel.has_effort
    assert panel.effort[:, 0, 0].tolist() == [1.0, 2.0, 0.0, 4.0]
    assert (panel.effort == panel.effort[:, :1, :1]).all()


def test_effort_may_differ_between_units() -> None:
    table = by_date("effort", [1.0, 2.0, 3.0, 4.0]).join(
        pl.DataFrame({"unit": ["south", "north"], "times": [10.0, 1.0]}), how="cross"
    )
    panel = make(effort=table.with_columns(pl.col("effort") * pl.col("times")).drop("times"))
    assert panel.effort[:, 0, 1].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert panel.effort[:, 1, 0].tolist() == [10.0, 20.0, 30.0, 40.0]


def test_every_other_column_of_the_features_is_a_feature() -> None:
    table = by_date("price", [1.0, 2.0, 3.0, 4.0]).with_columns(
        holiday=pl.Series([True, False, False, True])
    )
    panel = make(features=table)
    assert panel.feature_names == ("price", "holiday")
    assert panel.features[:, 1, 1].tolist() == [[1.0, 1.0], [2.0, 0.0], [3.0, 0.0], [4.0, 1.0]]


def test_effort_and_features_reach_past_the_last_date() -> None:
    panel = make(
        effort=by_date("effort", [1.0] * 4 + [5.0, 6.0]),
        features=by_date("price", [0.0] * 4 + [7.0, 8.0]),
    )
    assert panel.days == 4
    assert panel.known_dates.tolist() == [day(d) for d in range(6)]
    assert panel.effort[4:, 0, 0].tolist() == [5.0, 6.0]
    assert panel.features[4:, 0, 0, 0].tolist() == [7.0, 8.0]


def test_the_known_future_ends_where_the_shorter_table_ends() -> None:
    panel = make(
        effort=by_date("effort", [1.0] * 8),
        features=by_date("price", [0.0] * 5),
    )
    assert panel.known_dates.tolist() == [day(d) for d in range(5)]
    assert len(panel.effort) == len(panel.features) == 5


def test_dates_before_the_first_count_are_left_aside() -> None:
    panel = make(effort=by_date("effort", [9.0, 9.0, 1.0, 2.0, 3.0, 4.0], first=-2))
    assert panel.effort[:, 0, 0].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_the_future_can_be_given_later() -> None:
    past = {"effort": [1.0, 2.0, 3.0, 4.0], "price": [5.0, 6.0, 7.0, 8.0]}
    panel = make(effort=by_date("effort", past["effort"]), features=by_date("price", past["price"]))
    later = panel.with_future(
        effort=by_date("effort", [0.5, 0.6], first=4),
        features=by_date("price", [1.0, 2.0], first=4),
    )
    assert_same(
        later,
        make(
            effort=by_date("effort", [*past["effort"], 0.5, 0.6]),
            features=by_date("price", [*past["price"], 1.0, 2.0]),
        ),
    )
    assert panel.known_dates.tolist() == [day(d) for d in range(4)], "the panel itself stays"


def test_a_future_known_before_is_replaced() -> None:
    panel = make(effort=by_date("effort", [1.0] * 6))
    later = panel.with_future(effort=by_date("effort", [3.0, 4.0, 5.0], first=4))
    assert later.effort[4:, 0, 0].tolist() == [3.0, 4.0, 5.0]


def test_through_forgets_later_counts_but_not_what_was_known_ahead() -> None:
    effort = by_date("effort", [1.0, 2.0, 3.0, 4.0, 5.0])
    panel = make(effort=effort, sizes=SIZES)
    earlier = panel.through("2022-04-02")
    assert earlier.days == 2
    assert earlier.dates.tolist() == [day(0), day(1)]
    assert np.array_equal(earlier.patterns, panel.patterns[:2])
    assert np.array_equal(earlier.size, panel.size[:2])
    assert np.array_equal(earlier.effort, panel.effort)
    assert earlier.arrivals.shape == (2, 2, 2)
