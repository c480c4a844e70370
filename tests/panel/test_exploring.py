"""Exploring tells chance from movement and memory, and says when it cannot tell."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import dgd
from dgd.panel.exploration.chance import arrival_departures, behavior_departures
from dgd.panel.exploration.movement import Movement, cell_by_cell, together
from dgd.panel.panel import Panel
from support.counted_worlds import ar1, counted, panel_of_counts
from support.small_panel import day, make

DAYS = 70
CONSTANT = np.full((DAYS, 3), 0.3)


def row_of(panel: Panel, series: str = "click") -> dict[str, Any]:
    (row,) = panel.explore().to_frame("polars").filter(series=series).to_dicts()
    return dict(row)


def movement_of(rates: np.ndarray, arrivals: float, seed: int) -> Movement:
    """Of all cells together, in a world whose weekdays are all alike."""
    season = np.arange(len(rates)) % 7
    return together(behavior_departures(*counted(rates, arrivals, seed), season))


def wander(persistence: float, seed: int) -> np.ndarray:
    """A rate of 0.3 that all three cells share and that moves by 0.06."""
    return CONSTANT + 0.06 * ar1(DAYS, 1, persistence, seed)


WORLDS: dict[str, Callable[[int], np.ndarray]] = {
    "chance": lambda _: CONSTANT,
    "drift": lambda seed: wander(0.9, seed),
    "shocks": lambda seed: wander(0.0, seed),
}
SENTENCES = {
    "chance": "varies no more than chance: an average is as good as it gets",
    "drift": "drifts: yesterday tells about today",
    "shocks": "varies from day to day, but yesterday says nothing about today",
}


@pytest.mark.parametrize("world", WORLDS)
def test_a_made_world_gets_its_own_sentence(world: str) -> None:
    rows = [row_of(panel_of_counts(WORLDS[world](seed), 100, seed)) for seed in range(6)]
    right = [row for row in rows if row["outcome"] == world]
    assert len(right) >= 5
    assert {row["verdict"] for row in right} == {SENTENCES[world]}


def test_weekdays_are_no_drift() -> None:
    weekday = np.array([0.2, 0.2, 0.25, 0.3, 0.4, 0.6, 0.5])[np.arange(DAYS) % 7]
    busy = np.array([80, 90, 100, 100, 150, 300, 200])[np.arange(DAYS) % 7]
    for seed in range(5):
        panel = panel_of_counts(CONSTANT + weekday[:, None] - 0.3, busy[:, None], seed)
        outcomes = panel.explore().to_frame("polars")["outcome"]
        assert not {"drift", "shocks", "swing"} & set(outcomes)


def test_the_variance_ratio_of_chance_is_one() -> None:
    season, ratios = np.arange(DAYS) % 7, []
    for seed in range(40):
        shown, arrivals = counted(CONSTANT, 12, seed)
        rates = behavior_departures(shown, arrivals, season)
        counts = arrival_departures(arrivals, np.ones_like(arrivals), season)
        found = (together(rates), cell_by_cell(rates), together(counts), cell_by_cell(counts))
        ratios.append([movement.variance_ratio for movement in found])
    assert np.mean(ratios, 0) == pytest.approx(np.ones(4), abs=0.06)


def test_the_variance_ratio_of_a_drift_is_what_its_size_gives() -> None:
    ratios = [movement_of(wander(0.5, seed), 100, seed).variance_ratio for seed in range(40)]
    expected = 1.0 + 0.06**2 * 300 / (0.3 * 0.7)
    assert np.mean(ratios) == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize(("rate", "arrivals"), [(0.03, 3), (0.3, 50), (0.5, 1)])
def test_chance_is_seldom_called_a_movement_or_a_memory(rate: float, arrivals: float) -> None:
    found = [movement_of(np.full((DAYS, 3), rate), arrivals, seed) for seed in range(120)]
    assert np.mean([movement.p_value < 0.05 for movement in found]) <= 0.08
    outside = [abs(movement.autocorrelation) > movement.chance_band for movement in found]
    assert np.mean(outside) <= 0.08


@pytest.mark.parametrize(
    ("rate", "most", "season"),
    [(0.35, 9, np.arange(21) % 7), (0.04, 3, np.zeros(80, np.int64))],
    ids=["common", "rare"],
)
def test_the_expected_squares_are_those_of_many_draws(
    rate: float, most: int, season: np.ndarray
) -> None:
    """Their mean, and the variance that p-values rest on, against simulation; behaviours that
    are rare have squares that vary far more than Gaussian ones."""
    rng = np.random.default_rng(3)
    arrivals = rng.integers(1, most, (len(season), 2))
    squares, expected, spread = [], [], []
    for _ in range(300):
        shown = rng.binomial(arrivals, rate)
        found = behavior_departures(shown, arrivals, season)
        squares.append((found.value.sum(1) ** 2).sum())
        expected.append(found.variance.sum())
        spread.append(2 * expected[-1] ** 2 / together(found).freedom if expected[-1] else 0.0)
    assert np.mean(squares) == pytest.approx(np.mean(expected), rel=0.06)
    assert np.mean(spread) == pytest.approx(np.var(squares), rel=0.25)


def test_ratio_and_autocorrelation_are_those_of_plain_loops() -> None:
    shown, arrivals = counted(wander(0.6, 4)[:28], 20, 4)
    arrivals[5] = shown[5] = 0
    weekdays = [[t for t in range(28) if t % 7 == t0 % 7] for t0 in range(28)]
    sums, chances, totals = [], [], 0.0
    for t in range(28):
        apart, chance = 0.0, 0.0
        for c in range(3):
            all_arrivals = sum(arrivals[s, c] for s in weekdays[t])
            rate = sum(shown[s, c] for s in weekdays[t]) / all_arrivals
            apart += shown[t, c] - arrivals[t, c] * rate
            spread = rate * (1 - rate) * all_arrivals / (all_arrivals - 1)
            chance += arrivals[t, c] * spread * (1 - arrivals[t, c] / all_arrivals)
        if t != 5:
            sums.append(apart)
            chances.append(chance)
            totals += chance
    found = together(behavior_departures(shown, arrivals, np.arange(28) % 7))
    assert found.periods == 27
    assert found.variance_ratio == pytest.approx(sum(x * x for x in sums) / totals)
    standard = [x / math.sqrt(v) for x, v in zip(sums, chances, strict=True)]
    follow = sum(a * b for a, b in zip(standard[1:], standard, strict=False))
    assert found.autocorrelation == pytest.approx(follow / sum(x * x for x in standard))
    assert found.chance_band == pytest.approx(2 / math.sqrt(27 - 7))
    ratio = found.variance_ratio
    outside = stats.chi2.sf(ratio * found.freedom, found.freedom)
    assert found.p_value == pytest.approx(outside)


def test_a_weekday_that_came_once_tells_nothing() -> None:
    """A day that is its own mean cannot depart from it, however large its counts."""
    shown, arrivals = counted(wander(0.6, 4)[:15], 1e6, 4)
    season = np.minimum(np.arange(15), 7)
    found = together(behavior_departures(shown, arrivals, season))
    assert found.periods == 8


def test_one_cell_is_the_same_together_and_by_itself() -> None:
    shown, arrivals = counted(wander(0.6, 4)[:, :1], 20, 4)
    departures = behavior_departures(shown, arrivals, np.arange(DAYS) % 7)
    one, other = together(departures), cell_by_cell(departures)
    assert one.variance_ratio == pytest.approx(other.variance_ratio)
    assert one.freedom == pytest.approx(other.freedom)
    assert one.chance_band == pytest.approx(other.chance_band)


def test_movements_that_cancel_in_the_sum_are_seen_in_cells() -> None:
    moved = 0.08 * ar1(DAYS, 1, 0.9, 2) * np.array([1.0, -1.0])
    row = row_of(panel_of_counts(0.3 + moved, 150, 2))
    assert abs(row["autocorrelation"]) < row["chance_band"]
    assert row["cell_autocorrelation"] > row["cell_chance_band"]
    assert row["verdict"] == "within cells drifts: yesterday tells about today"


def test_arrivals_in_proportion_to_effort_are_no_movement() -> None:
    effort = 1.0 + 4.0 * (np.arange(DAYS) // 10 % 2)
    panel = panel_of_counts(CONSTANT, 40 * effort[:, None], 1)
    table = pl.DataFrame({"date": panel.dates, "effort": effort})
    told = Panel.from_counts(panel.to_frame(), cohort="cohort", behaviors=["click"], effort=table)
    assert row_of(panel, "arrivals")["outcome"] == "drift"
    assert row_of(told, "arrivals")["outcome"] == "chance"


@pytest.mark.parametrize("days", [1, 2, 3, 6, 13, 14, 20])
def test_under_three_weeks_nothing_is_told(days: int) -> None:
    for series in ("arrivals", "click"):
        row = row_of(panel_of_counts(wander(0.9, 1)[:days], 100, 1), series)
        assert row["outcome"] == "too few"
        many = "1 day," if days == 1 else f"{days} days,"
        assert row["verdict"].startswith(f"too few days to tell: {many} about ")
        assert row["days_needed"] >= 21


def test_fewer_arrivals_need_more_days() -> None:
    needed = [row_of(panel_of_counts(CONSTANT, n, 1))["days_needed"] for n in (2000, 300, 30)]
    assert needed == sorted(needed)
    assert needed[0] < 30
    assert needed[-1] > 60


def test_the_days_needed_show_a_lasting_movement_of_a_tenth() -> None:
    needed = row_of(panel_of_counts(CONSTANT, 200, 1))["days_needed"]
    seen = []
    for seed in range(12):
        rates = 0.3 + 0.03 * ar1(needed, 1, 0.8, seed) + np.zeros((needed, 3))
        seen.append(row_of(panel_of_counts(rates, 200, seed))["outcome"] == "drift")
    assert 0.6 < np.mean(seen) < 1.0


def test_a_handful_of_arrivals_is_too_few() -> None:
    row = row_of(panel_of_counts(np.full((DAYS, 1), 0.1), 4, 1))
    assert row["outcome"] == "too few"
    assert "too few arrivals to tell: " in row["verdict"]


def test_what_never_varies_is_said_so() -> None:
    for rate in (0.0, 1.0):
        row = row_of(panel_of_counts(np.full((DAYS, 2), rate), 30, 1))
        assert row["verdict"] == "never varies: there is nothing to forecast"
        assert row["variance_ratio"] is None
        assert row["p_value"] is None


def few_rows(counts: list[int], click: list[int], **options: Any) -> Panel:
    dates = [day(number) for number in range(len(counts))]
    table = pl.DataFrame({"date": dates, "click": click, "count": counts})
    return Panel.from_counts(table, unit=None, cohort=None, behaviors=["click"], **options)


ODD: dict[str, tuple[Panel, list[str]]] = {
    "nothing arrived": (few_rows([0] * 30, [0] * 30), ["constant", "constant"]),
    "one row": (few_rows([1], [1]), ["too few", "too few"]),
    "one arrival in a year": (few_rows([1], [1], end=day(364)), ["too few", "constant"]),
    "one arrival a day": (few_rows([1] * 30, [0, 1, 1] * 10), ["too few", "too few"]),
    "the same every day": (few_rows([100] * 90, [1] * 90), ["chance", "constant"]),
    "large counts": (few_rows([10**9] * 30, [0, 1] * 15), ["chance", "swing"]),
    "Mondays only": (few_rows([9, 0, 0, 0, 0, 0, 0] * 12, [0] * 84), ["too few", "constant"]),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.filterwarnings("error")
def test_an_odd_panel_is_told_of_in_plain_values(name: str) -> None:
    panel, outcomes = ODD[name]
    found = panel.explore()
    assert found.to_frame("polars")["outcome"].to_list() == outcomes
    json.dumps(found.payload(), default=str, allow_nan=False)


def test_hours_are_held_against_hours_of_the_week() -> None:
    hour = np.arange(24 * 28)
    rate = 0.3 + 0.15 * np.sin(2 * np.pi * hour / 24) + 0.1 * (hour // 24 % 7 > 4)
    row = row_of(panel_of_counts(np.stack([rate, rate], 1), 30, 1, "hour"))
    assert row["outcome"] == "chance"
    assert row["hours_needed"] == 21 * 24
    drift = rate[:, None] + 0.08 * ar1(len(hour), 1, 0.9, 5)
    row = row_of(panel_of_counts(drift, 60, 1, "hour"))
    assert row["verdict"] == "drifts: the hour before tells about the hour after"


def test_weeks_have_no_seasons() -> None:
    panel = panel_of_counts(wander(0.9, 3), 100, 3, "week")
    assert row_of(panel)["verdict"] == "drifts: the week before tells about the week after"
    assert row_of(panel)["chance_band"] == pytest.approx(2 / math.sqrt(DAYS - 1))


def test_the_facts_are_counted() -> None:
    facts = make(end="2022-04-08", units=["north", "south", "west"]).explore().facts
    assert facts == {
        "first": "2022-04-01",
        "last": "2022-04-08",
        "days": 8,
        "days without arrivals": 5,
        "longest gap": 4,
        "units": 3,
        "cohorts": 2,
        "cells": 6,
        "cells without arrivals": 2,
        "arrivals": 22,
        "arrivals a day": 2.75,
        "median arrivals a cell and day": 0.0,
        "joint patterns seen": 4,
        "joint patterns possible": 4,
    }


def test_the_daily_table_holds_rates_within_chance_bands() -> None:
    panel = panel_of_counts(CONSTANT, 100, 5)
    daily = panel.explore().daily("polars")
    assert daily.height == 2 * DAYS
    click = daily.filter(series="click")
    rates = panel.behavior_counts[..., 0].sum((1, 2)) / panel.arrivals.sum((1, 2))
    assert np.allclose(click["observed"], rates)
    inside = click.filter(pl.col("observed").is_between("low", "high")).height
    assert inside >= 0.9 * DAYS
    width = (click["high"] - click["low"]).mean()
    assert width == pytest.approx(4 * math.sqrt(0.3 * 0.7 / 300), rel=0.05)


def test_a_day_without_arrivals_has_no_rate() -> None:
    daily = make().explore().daily("polars").filter(date=pl.date(2022, 4, 3))
    assert daily["observed"].to_list() == [0.0, None, None]


def test_frames_come_back_in_the_kind_handed_over() -> None:
    table = panel_of_counts(CONSTANT, 30, 1).to_frame("pandas")
    found = Panel.from_counts(table, behaviors=["click"]).explore()
    assert isinstance(found, dgd.Exploration)
    assert isinstance(found.to_frame(), pd.DataFrame)
    assert isinstance(found.daily(), pd.DataFrame)
    assert isinstance(found.to_frame("polars"), pl.DataFrame)


def test_the_whole_is_told_in_words() -> None:
    drifting = panel_of_counts(wander(0.9, 1), 100, 1).explore()
    assert drifting.verdict == "Dynamics can beat an average for click."
    assert "click: drifts: yesterday tells about today" in repr(drifting)
    short = make().explore()
    assert short.verdict == "Nothing here shows that dynamics could beat an average."
