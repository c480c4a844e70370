"""Ranges, settings, horizons and origins that cannot be right are refused before any work."""

from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest

import dgd
from dgd import Panel
from support.refusals import make, refused

pytestmark = pytest.mark.usefixtures("no_work")


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
        ("components", 0, "from 1 to"),
        ("nodes", 0, "from 1 to"),
        ("dim", 0, "from 1 to"),
        ("epochs", 0, "from 1 to"),
        ("patience", 0, "from 1 to"),
        ("learning_rate", 0.0, "from 1e-09 to 1e+300"),
        ("learning_rate", float("nan"), "finite"),
        ("clip_norm", -1.0, "from 1e-09 to 1e+09"),
        ("dispersion", 0.0, "from 1e-06 to 1e+09"),
        ("initial_scale", 0.0, "from 0.051 to 10"),
        ("count_weight", -0.1, "from 0 to 1e+09"),
        ("expected_weight", -0.1, "from 0 to 1e+09"),
        ("penalty_weight", -0.1, "from 0 to 1e+09"),
        ("behavior_penalty", -0.1, "from 0 to 1e+09"),
        ("calendar_penalty", float("nan"), "finite"),
        ("summary_retention", 1.0, "from 0 to 0.9999"),
        ("summary_retention", -0.1, "from 0 to 0.9999"),
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
    with refused("origin 5 (2022-01-08)", "from 9 (2022-01-12)", "choose one in that range"):
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
        ({"known_dates": np.arange("2022-01-02", "2022-02-11", dtype="M8[D]")}, ["2022-01-02"]),
    ],
)
def test_a_panel_unlike_the_fits_is_refused(fit: dgd.Fit, change: Any, words: list[str]) -> None:
    with refused("new panel", *words):
        fit.update(replace(fit.panel, **change))


def test_an_unknown_kind_of_frame_is_refused() -> None:
    with refused('kind "excel" is not known', "polars, pandas, pyarrow"):
        make().to_frame("excel")
