"""What cannot be right is refused before any work, in one sentence with a way out."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dgd
import dgd.estimator
import dgd.fit
from dgd.panel import Panel

BEHAVIORS = ["click", "like"]
FIRST = date(2022, 4, 1)
DAYS = 8


def day(number: int) -> date:
    return FIRST + timedelta(days=number)


def rows() -> pl.DataFrame:
    """One row a day, unit and cohort; row r is on day (r - 1) // 4."""
    return pl.DataFrame(
        [
            (day(d), unit, cohort, (d + u) % 2, g, 3)
            for d in range(DAYS)
            for u, unit in enumerate(["north", "south"])
            for g, cohort in enumerate(["new", "old"])
        ],
        schema=["date", "unit", "cohort", *BEHAVIORS, "count"],
        orient="row",
    )


def changed(row: int, column: str, value: object) -> pd.DataFrame:
    """The counts with one value changed, as a frame whose columns may hold anything."""
    table = {name: list(values) for name, values in rows().to_dict(as_series=False).items()}
    table[column][row - 1] = value
    return pd.DataFrame({name: pd.Series(values) for name, values in table.items()})


def by_date(name: str, values: list[Any], first: int = 0) -> pl.DataFrame:
    days = [day(first + place) for place in range(len(values))]
    dates = pl.Series("date", days, pl.Date)
    return pl.DataFrame([dates, pl.Series(name, values, strict=False)])


def make(table: Any = None, **options: Any) -> Panel:
    return Panel.from_counts(
        rows() if table is None else table, **{"behaviors": BEHAVIORS, **options}
    )


@contextmanager
def refused(*words: str) -> Iterator[None]:
    """The block raises an `InputError` of one sentence that holds all `words`."""
    with pytest.raises(dgd.InputError) as refusal:
        yield
    message = str(refusal.value)
    assert message.endswith("."), message
    assert not re.search(r"[.!?]\s|\n", message), f"more than one sentence: {message}"
    assert re.search(r"[;:] \S", message), f"no way out: {message}"
    for word in words:
        assert word in message, f"{word!r} is not in: {message}"


@pytest.fixture(autouse=True)
def _no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reaching any computation is a failure here."""

    def reached(*_: object, **__: object) -> None:
        pytest.fail("work began before the refusal")

    monkeypatch.setattr(dgd.estimator, "train_attempts", reached)
    monkeypatch.setattr(dgd.estimator, "computing", reached)
    monkeypatch.setattr(dgd.fit, "expected_path", reached)


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
        (["click", "click"], ['"click" twice', "name each column once"]),
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


# Ranges and seeds


def fit_to(panel: Panel, **options: Any) -> None:
    ends = {"train_end": "2022-04-05", "validation_end": "2022-04-07"}
    dgd.DGD(epochs=1).fit(panel, **{**ends, **options})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"train_end": "2022-04-08"},
            ["train_end 2022-04-08", "not before validation_end 2022-04-07", "at least one day"],
        ),
        ({"train_end": "2022-04-07"}, ["train_end 2022-04-07", "not before validation_end"]),
        (
            {"warmup_end": "2022-04-05"},
            ["warmup_end 2022-04-05", "not before train_end 2022-04-05", "at least one day"],
        ),
        (
            {"validation_end": "2022-05-01"},
            ["validation_end 2022-05-01", "2022-04-01", "2022-04-08", "choose one in that range"],
        ),
        ({"train_end": "2022-03-31"}, ["train_end 2022-03-31", "2022-04-01 to 2022-04-08"]),
        ({"train_end": "soon"}, ['train_end "soon"', "not a date", "2022-04-21"]),
        ({"warmup_end": "2021-04-01"}, ["warmup_end 2021-04-01", "choose one in that range"]),
        ({"seeds": []}, ["seeds is []", "at least one seed"]),
        ({"seeds": [1, 2, 1]}, ["seeds is [1, 2, 1]", "each only once"]),
    ],
)
def test_ranges_and_seeds_that_cannot_be_right_are_refused(options: Any, words: list[str]) -> None:
    with refused(*words):
        fit_to(make(), **options)


def test_a_training_range_without_arrivals_is_refused() -> None:
    panel = make(start="2022-03-20")
    with refused(
        "no arrivals from 2022-03-20 to 2022-03-25", "choose a training range with counts"
    ):
        fit_to(panel, train_end="2022-03-25")


def test_a_warm_up_without_arrivals_is_refused() -> None:
    panel = make(start="2022-03-20")
    with refused("no arrivals up to warmup_end 2022-03-25", "leave warmup_end out"):
        fit_to(panel, warmup_end="2022-03-25")


# Settings


@pytest.mark.parametrize(
    ("name", "value", "way_out"),
    [
        ("components", 0, "at least 1"),
        ("nodes", 0, "at least 1"),
        ("dim", 0, "at least 1"),
        ("epochs", 0, "at least 1"),
        ("patience", 0, "at least 1"),
        ("learning_rate", 0.0, "positive"),
        ("learning_rate", float("nan"), "positive"),
        ("clip_norm", -1.0, "positive"),
        ("dispersion", 0.0, "positive"),
        ("initial_scale", 0.0, "positive"),
        ("count_weight", -0.1, "not be negative"),
        ("expected_weight", -0.1, "not be negative"),
        ("penalty_weight", -0.1, "not be negative"),
        ("behavior_penalty", -0.1, "not be negative"),
        ("calendar_penalty", float("nan"), "not be negative"),
        ("summary_retention", 1.0, "[0, 1)"),
        ("summary_retention", -0.1, "[0, 1)"),
        ("start", "zero", "choose one of best, warmup, training"),
        ("calendar", "moon", "choose one of auto, weekday"),
    ],
)
def test_settings_that_cannot_be_right_are_refused(name: str, value: Any, way_out: str) -> None:
    with refused(name, str(value), way_out):
        dgd.DGD(**{name: value})


@pytest.mark.parametrize("name", ["learning_rate", "dispersion", "initial_scale", "penalty_weight"])
def test_infinite_settings_are_refused(name: str) -> None:
    with refused(name, "inf"):
        dgd.DGD(**{name: float("inf")})


def test_an_initial_scale_below_the_floor_is_refused() -> None:
    with refused("initial_scale", "0.05"):
        dgd.DGD(initial_scale=0.05)


def test_a_world_of_no_days_is_refused() -> None:
    with refused("days is 0", "draw at least one"):
        dgd.simulate(dgd.example_world(), 0, seed=1)


# Forecasts


def alike(fit: dgd.Fit, **panel: Any) -> dgd.Fit:
    """`fit` with its panel's known future changed."""
    return replace(fit, panel=replace(fit.panel, **panel))


@pytest.mark.parametrize("horizon", [0, -3])
def test_a_horizon_of_no_days_is_refused(fit: dgd.Fit, horizon: int) -> None:
    with refused(f"horizon is {horizon}", "at least one day"):
        fit.forecast(horizon, origin=fit.panel.dates[20])


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        ("2022-02-12", ["2022-01-03", "2022-02-11", "choose one in that range"]),
        ("2022-01-02", ["2022-01-03", "2022-02-11", "choose one in that range"]),
        ("someday", ["not a date", "2022-04-21"]),
    ],
)
def test_an_origin_outside_the_panel_is_refused(
    fit: dgd.Fit, origin: str, words: list[str]
) -> None:
    with refused("origin", origin, *words):
        fit.forecast(3, origin=origin)


def test_an_origin_inside_the_warm_up_is_refused(fit: dgd.Fit) -> None:
    warmed = replace(fit, split=replace(fit.split, first=10))
    with refused("origin 2022-01-08", "before the first training day 2022-01-13", "later one"):
        warmed.forecast(3, origin="2022-01-08")


def test_a_forecast_past_the_known_effort_is_refused(fit: dgd.Fit) -> None:
    with refused("effort for 2022-02-12", "forecast(effort=...)", "up to 2022-02-14"):
        fit.forecast(3)


def test_a_forecast_past_the_known_features_is_refused(fit: dgd.Fit) -> None:
    features = np.zeros((*fit.panel.effort.shape, 1))
    priced = alike(fit, features=features, feature_names=("price",), has_effort=False)
    with refused("features for 2022-02-12", "forecast(features=...)", "up to 2022-02-14"):
        priced.forecast(3)


def test_future_effort_too_short_for_the_horizon_is_refused(fit: dgd.Fit) -> None:
    ahead = pl.DataFrame({"date": [date(2022, 2, 12)], "effort": [1.0]})
    with refused("effort for 2022-02-13", "up to 2022-02-14"):
        fit.forecast(3, effort=ahead)


def test_future_effort_with_a_hole_is_refused(fit: dgd.Fit) -> None:
    ahead = pl.DataFrame({"date": [date(2022, 2, 12), date(2022, 2, 14)], "effort": [1.0, 1.0]})
    with refused("effort says nothing about date 2022-02-13", "add a row"):
        fit.forecast(3, effort=ahead)


def test_future_effort_for_past_dates_only_is_refused(fit: dgd.Fit) -> None:
    ahead = pl.DataFrame({"date": [date(2022, 2, 10)], "effort": [1.0]})
    with refused("effort", "2022-02-12"):
        fit.forecast(3, effort=ahead)


def test_future_features_without_the_panels_columns_are_refused(fit: dgd.Fit) -> None:
    features = np.zeros((*fit.panel.effort.shape, 1))
    priced = alike(fit, features=features, feature_names=("price",))
    ahead = pl.DataFrame({"date": [date(2022, 2, 12)], "cost": [1.0]})
    effort = pl.DataFrame({"date": [date(2022, 2, 12)], "effort": [1.0]})
    with refused('features has no column "price"', "cost"):
        priced.forecast(1, features=ahead, effort=effort)
    with refused("features for the future are missing", "price", "later dates"):
        priced.forecast(1, effort=effort)


def test_future_features_without_the_panels_effort_are_refused(fit: dgd.Fit) -> None:
    features = np.zeros((*fit.panel.effort.shape, 1))
    priced = alike(fit, features=features, feature_names=("price",))
    ahead = pl.DataFrame({"date": [date(2022, 2, 12)], "price": [1.0]})
    with refused("effort after 2022-02-11 is missing", "later dates"):
        priced.forecast(1, features=ahead)


def test_future_features_that_are_not_finite_are_refused(fit: dgd.Fit) -> None:
    features = np.zeros((*fit.panel.effort.shape, 1))
    priced = alike(fit, features=features, feature_names=("price",), has_effort=False)
    ahead = pl.DataFrame({"date": [date(2022, 2, 12)], "price": [float("nan")]})
    with refused("features row 1", "column price", "not a finite number"):
        priced.forecast(1, features=ahead)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"units": ("east", "west")}, ["units of the new panel", "east", "north"]),
        ({"behaviors": ("buy", "like", "share")}, ["behaviors of the new panel", "buy", "click"]),
        ({"known_dates": np.arange("2022-01-04", "2022-02-13", dtype="M8[D]")}, ["2022-01-04"]),
    ],
)
def test_a_panel_unlike_the_fits_is_refused(fit: dgd.Fit, change: Any, words: list[str]) -> None:
    with refused("new panel", *words):
        fit.with_panel(replace(fit.panel, **change))


def test_an_unknown_kind_of_frame_is_refused() -> None:
    with refused('kind "excel" is not known', "polars, pandas, pyarrow"):
        make().to_frame("excel")
