"""Tables that cannot be right are refused before any work, naming row, column and value."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from support.refusals import by_date, changed, day, make, refused, rows

pytestmark = pytest.mark.usefixtures("no_work")


# Counts


@pytest.mark.parametrize(
    ("row", "column", "value", "words"),
    [
        (3, "count", -2, ["row 3", "column count", "-2", "negative", "counts start at 0"]),
        (4, "count", 1.5, ["row 4", "column count", "1.5", "not whole"]),
        (5, "count", None, ["row 5", "column count", "not a count", "write 0 or drop the row"]),
        (5, "count", float("nan"), ["row 5", "column count", "not a count", "write 0"]),
        (6, "count", 1e30, ["row 6", "column count", "1e"]),
        (6, "count", float("inf"), ["row 6", "column count", "inf", "not a count"]),
        (7, "click", 2, ["row 7", "column click", "2", "neither 0 nor 1", "write 1 where"]),
        (7, "click", -1, ["row 7", "column click", "-1", "neither 0 nor 1"]),
        (8, "like", 0.5, ["row 8", "column like", "0.5", "neither 0 nor 1"]),
        (8, "like", None, ["row 8", "column like", "neither 0 nor 1"]),
        (2, "unit", None, ["row 2", "column unit", "missing", "not a label", "drop the row"]),
        (2, "cohort", None, ["row 2", "column cohort", "missing", "not a label"]),
    ],
)
def test_a_bad_value_in_the_counts_is_named(
    row: int, column: str, value: object, words: list[str]
) -> None:
    with refused("counts", *words):
        make(changed(row, column, value))


def test_text_in_place_of_a_count_is_refused() -> None:
    table = rows().with_columns(pl.lit("many").alias("count"))
    with refused("counts row 1", "column count", '"many"', "not a number", "31 more rows"):
        make(table)


def test_text_in_place_of_a_behavior_is_refused() -> None:
    table = rows().with_columns(pl.lit("yes").alias("like"))
    with refused("counts row 1", "column like", '"yes"', "neither 0 nor 1"):
        make(table)


def test_a_fractional_decimal_count_is_refused() -> None:
    count = pl.Series("count", [Decimal("3.0")] * 31 + [Decimal("1.5")])
    with refused("counts row 32", "column count", "1.5", "not whole"):
        make(rows().with_columns(count))


def test_further_bad_rows_are_counted() -> None:
    table = rows().with_columns(
        pl.when(pl.col("unit") == "south").then(-1).otherwise(3).alias("count")
    )
    with refused("counts row 3", "and 15 more rows"):
        make(table)


def test_rows_are_numbered_as_the_user_sees_them() -> None:
    table = changed(9, "count", -2).iloc[::-1].reset_index(drop=True)
    with refused("counts row 24"):
        make(table)


def test_two_rows_for_one_cell_and_pattern_are_refused() -> None:
    table = pl.concat([rows(), rows()[[5]]])
    words = [
        "rows 6 and 33",
        "date 2022-04-02",
        "unit north",
        "cohort old",
        "like 1",
        "add them up",
    ]
    with refused("counts", *words):
        make(table)


@pytest.mark.parametrize(
    ("value", "shown"),
    [("soon", '"soon"'), ("2022-02-30", '"2022-02-30"'), ("01/04/2022", '"01/04/2022"')],
)
def test_values_that_are_not_dates_are_refused(value: str, shown: str) -> None:
    text = rows().with_columns(pl.col("date").dt.to_string("%Y-%m-%d")).to_dict(as_series=False)
    text["date"][9] = value
    with refused(
        "counts row 10", "column date", shown, "not a date", "write dates like 2022-04-21"
    ):
        make(pl.DataFrame(text))


def test_numbers_are_not_dates() -> None:
    table = rows().with_columns(pl.lit(20220401).alias("date"))
    with refused("counts row 1", "column date", "20220401", "not a date", "2022-04-21"):
        make(table)


def test_a_missing_date_is_refused() -> None:
    table = rows().with_columns(
        pl.when(pl.col("date") > day(6)).then(None).otherwise("date").alias("date")
    )
    with refused("counts row 29", "column date", "missing", "not a date", "drop the row"):
        make(table)


def test_a_time_of_day_in_daily_counts_is_refused() -> None:
    table = rows().with_columns(pl.lit(datetime(2022, 4, 1, 13)).alias("date"))
    with refused(
        "counts row 1", "column date", "13:00", "not the start of a day", "sum the counts"
    ):
        make(table)


def test_dates_between_the_weeks_are_refused() -> None:
    with refused("counts row 5", "column date", "2022-04-02", "whole number of weeks", "alike"):
        make(period="week")


def test_a_table_without_rows_is_refused() -> None:
    with refused("counts has no rows", "hand over at least one day"):
        make(rows().clear())


def test_what_is_no_table_is_refused() -> None:
    with refused("counts", "a dict is not a table", "pandas, Polars"):
        make({"date": []})


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ({"date": "when"}, "when"),
        ({"unit": "shop"}, "shop"),
        ({"cohort": "segment"}, "segment"),
        ({"count": "n"}, "n"),
        ({"behaviors": ["click", "buy"]}, "buy"),
    ],
)
def test_a_missing_column_is_named_beside_those_there(options: Any, missing: str) -> None:
    with refused(f'counts has no column "{missing}"', "date, unit, cohort, click, like, count"):
        make(**options)


@pytest.mark.parametrize(
    ("behaviors", "words"),
    [
        (
            [f"b{h}" for h in range(13)],
            ["13 columns", "8192 joint patterns", "at most 12", "merge"],
        ),
        ([], ["behaviors is empty", "at least one"]),
        (["click", "click"], ['"click" twice', "name each once"]),
        (["click", "count"], ['"count"', "rename"]),
        (["arrivals"], ['"arrivals"', "rename"]),
    ],
)
def test_behaviors_that_cannot_be_enumerated_are_refused(
    behaviors: list[str], words: list[str]
) -> None:
    table = rows().with_columns(pl.lit(0).alias(name) for name in set(behaviors) - {"count"})
    with refused("behaviors", *words):
        make(table, behaviors=behaviors)


@pytest.mark.parametrize(
    ("options", "column"), [({"units": ["north"]}, "unit"), ({"cohorts": ["new"]}, "cohort")]
)
def test_a_label_beyond_those_expected_is_refused(options: Any, column: str) -> None:
    with refused("counts row", f"column {column}", "not among the labels expected", "add it"):
        make(**options)


def test_an_unknown_period_is_refused() -> None:
    with refused('period "month" is not known', "choose hour, day or week"):
        make(period="month")


def test_a_range_that_leaves_out_counts_is_refused() -> None:
    with refused("start 2022-04-03", "2022-04-01", "leave it out"):
        make(start="2022-04-03")
    with refused("end 2022-04-03", "2022-04-08", "leave it out"):
        make(end="2022-04-03")


@pytest.mark.parametrize("column", ["unit", "cohort"])
@pytest.mark.parametrize("name", ["pattern", "arrivals", "horizon"])
def test_a_label_column_named_like_one_of_dgds_own_is_refused(column: str, name: str) -> None:
    with refused(f'"{name}"', "rename"):
        make(rows().rename({column: name}), **{column: name})


# Sizes


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        (
            {"new": 5, "old": 5, "lost": 5},
            ["row 3", "column cohort", '"lost"', "not in the counts"],
        ),
        ({}, ["has no rows", "leave it out"]),
        ({"new": 5}, ["says nothing about cohort old", "add a row"]),
        ({"new": 5, "old": 0}, ["row 2", "column size", "0", "not positive"]),
        ({"new": 5, "old": -1.5}, ["row 2", "column size", "-1.5", "not positive"]),
        ({"new": float("nan"), "old": 5.0}, ["row 1", "column size", "not a finite number"]),
        ({"new": float("inf"), "old": 5.0}, ["row 1", "column size", "inf", "not a finite number"]),
        ({1: 5, 2: 5}, ["row 1", "column cohort", "1", "not in the counts"]),
    ],
)
def test_sizes_that_do_not_fit_the_cohorts_are_refused(sizes: Any, words: list[str]) -> None:
    with refused("sizes", *words):
        make(sizes=sizes)


def test_a_size_given_twice_is_refused() -> None:
    table = pl.DataFrame({"cohort": ["new", "old", "new"], "size": [1.0, 2.0, 3.0]})
    with refused("sizes rows 1 and 3", "cohort new", "drop one"):
        make(sizes=table)


def test_a_missing_size_of_one_unit_is_refused() -> None:
    table = pl.DataFrame(
        {"unit": ["north", "north", "south"], "cohort": ["new", "old", "new"], "size": [1.0] * 3}
    )
    with refused("sizes says nothing about unit south, cohort old", "add a row"):
        make(sizes=table)


@pytest.mark.parametrize("lacking", ["cohort", "size"])
def test_sizes_without_their_columns_are_refused(lacking: str) -> None:
    table = pl.DataFrame({"cohort": ["new", "old"], "size": [1.0, 2.0]}).rename({lacking: "other"})
    with refused(f'sizes has no column "{lacking}"', "other"):
        make(sizes=table)


# Effort and features


def test_arrivals_where_there_was_no_effort_are_refused() -> None:
    table = by_date("effort", [1.0, 1.0, 0.0, *[1.0] * 5])
    words = ["2022-04-03", "unit north", "cohort new", "is 0", "3 arrivals", "positive effort"]
    with refused("effort", *words):
        make(effort=table)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, -0.5, *[1.0] * 6], ["row 2", "column effort", "-0.5", "negative"]),
        ([1.0, None, *[1.0] * 6], ["row 2", "column effort", "missing", "not a finite number"]),
        (
            [1.0, float("inf"), *[1.0] * 6],
            ["row 2", "column effort", "inf", "finite", "fill it in"],
        ),
        (["much"] * 8, ["row 1", "column effort", '"much"', "not a number"]),
        ([], ["has no rows", "leave it out"]),
        ([1.0] * 7, ["says nothing about date 2022-04-08", "add a row"]),
    ],
)
def test_effort_that_cannot_be_right_is_refused(values: list[Any], words: list[str]) -> None:
    with refused("effort", *words):
        make(effort=by_date("effort", values))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.0, float("nan"), *[0.0] * 6], ["row 2", "column price", "not a finite number"]),
        ([0.0, float("inf"), *[0.0] * 6], ["row 2", "column price", "inf", "finite", "fill it in"]),
        ([0.0, None, *[0.0] * 6], ["row 2", "column price", "missing", "not a finite number"]),
        (["low"] * 8, ["row 1", "column price", '"low"', "not a number", "encode it"]),
        ([0.0] * 5, ["says nothing about date 2022-04-06", "add a row"]),
    ],
)
def test_features_that_cannot_be_right_are_refused(values: list[Any], words: list[str]) -> None:
    with refused("features", *words):
        make(features=by_date("price", values))


def test_features_for_an_unknown_unit_are_refused() -> None:
    table = by_date("price", [1.0] * 8).with_columns(pl.lit("east").alias("unit"))
    with refused("features row 1", "column unit", '"east"', "not in the counts", "drop the row"):
        make(features=table)


def test_features_given_twice_for_a_date_are_refused() -> None:
    table = pl.concat([by_date("price", [1.0] * 8), by_date("price", [2.0], first=3)])
    with refused("features rows 4 and 9", "2022-04-04", "drop one"):
        make(features=table)


def test_features_without_a_feature_are_refused() -> None:
    with refused("features has no column beside its keys", "leave it out"):
        make(features=by_date("price", [1.0] * 8).select("date"))


@pytest.mark.parametrize("name", ["effort", "features"])
def test_effort_and_features_need_their_dates(name: str) -> None:
    with refused(f'{name} has no column "date"', "effort"):
        make(**{name: pl.DataFrame({"effort": [1.0]})})


# Values and names that would break a sentence


def test_a_value_of_two_lines_is_shown_in_one() -> None:
    with refused("counts row 1", r'"a\nb"', "is neither 0 nor 1"):
        make(rows().with_columns(pl.lit("a\nb").alias("click")))


@pytest.mark.parametrize("letter", ["\0", "\u202e", "\x1b"])
def test_letters_that_no_terminal_shows_are_spelled_out(letter: str) -> None:
    with refused(f'counts has no column "{ascii(letter)[1:-1]}"'):
        make(count=letter)


def test_a_very_long_name_is_cut() -> None:
    with refused("counts has no column", "xxx\N{HORIZONTAL ELLIPSIS}xxx"):
        make(count="x" * 100_000)


def test_a_missing_column_is_told_apart_from_those_the_table_has() -> None:
    with refused('counts has no column "n"', "its columns are date, unit, cohort, click, like"):
        make(rows().rename({"count": "pattern"}), count="n")
    with pytest.raises(ValueError, match='no column "n"') as refusal:
        make(count="n")
    assert "pattern" not in str(refusal.value)


def test_features_of_what_is_no_label_are_refused() -> None:
    things = pl.Series("unit", [object()] * 8, dtype=pl.Object)
    with refused("features row 1", "column unit", "is not a label"):
        make(features=by_date("price", [1.0] * 8).with_columns(things))
