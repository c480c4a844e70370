"""Plans: the best schedule where it is known, limits kept, never behind what is planned anyway."""

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.scenarios import Plan, plan, solving
from dgd.scenarios.plan_terms import fixed_cells
from scenarios.known_crowds import elastic, proportional, tiring, without_feedback
from support.refusals import refused

Known = Callable[..., dgd.Fit]
WIDE = (0.0, 100.0)


def never_behind(found: Plan) -> bool:
    best, even, now = found.summary()["objective"]
    fits = found.spending.holds(found.now, 0.0)
    return bool(best >= even * (1 - 1e-12) and (not fits or best >= now * (1 - 1e-12)))


@pytest.fixture(scope="module")
def planned(two_seeds: dgd.Fit) -> Plan:
    """A plan with everything that can be limited."""
    dates = two_seeds.panel.period.range(two_seeds.panel.dates[-1], 6)[1:]
    return plan(
        two_seeds,
        22.0,
        {"buy": 1.0, "arrivals": 0.05},
        horizon=5,
        per_day={dates[1]: 2.0},
        per_unit={"south": 9.0},
        fixed={"dates": dates[2], "cohorts": "casual"},
        starts=5,
    )


def test_the_best_schedule_is_known_where_nothing_is_carried(known: Known) -> None:
    """Maximise sum a e^eps for a fixed sum of e: e is proportional to a^(1 / (1 - eps))."""
    fit = known(without_feedback, partial(elastic, elasticity=0.4))
    found = plan(fit, 10.0, "arrivals", horizon=3, bounds=WIDE, starts=5)
    planned_now = found.now
    level = found.expecting.planned_series()[:3, ..., 0] / planned_now**0.4
    best = level ** (1 / 0.6)
    best *= 10.0 / best.sum()
    assert np.allclose(found.effort, best, rtol=1e-3)
    assert np.isclose(found.summary()["objective"][0], (level * best**0.4).sum(), rtol=1e-8)
    assert np.allclose(found.summary()["afterwards"], 0.0, atol=1e-9)


@pytest.mark.parametrize("effect", [0.0, pytest.param(-4.0, marks=pytest.mark.slow)])
def test_no_point_of_a_grid_is_better(known: Known, effect: float) -> None:
    """Three days of one cell, the others fixed: brute force over every way to spend."""
    fit = known(partial(elastic, elasticity=0.6), partial(tiring, effect=effect))
    fixed = [{"units": "south"}, {"cohorts": "devoted"}]
    taken = _now_elsewhere(fit, 3)
    found = plan(fit, 4.0 + taken, "buy", horizon=3, bounds=(0.0, 4.0), fixed=fixed, starts=6)
    grid = np.linspace(0.0, 4.0, 11)
    best = -np.inf
    for first, second in itertools.product(grid, grid):
        for third in grid[grid <= 4.0 - first - second + 1e-9]:
            effort = found.now.copy()
            effort[:, 0, 0] = first, second, third
            best = max(best, found.worth(effort)[0])
    assert found.worth(found.effort)[0] >= best * (1 - 1e-9)
    assert never_behind(found)


def _now_elsewhere(fit: dgd.Fit, horizon: int) -> float:
    now = fit.panel.effort[-7 : -7 + horizon].copy()
    now[:, 0, 0] = 0.0
    return float(now.sum())


@pytest.mark.slow
def test_linear_worth_goes_where_it_is_worth_most(known: Known) -> None:
    fit = known(without_feedback, proportional)
    found = plan(fit, 7.0, "buy", horizon=3, bounds=(0.0, 2.0), starts=5)
    slope = found.worth(found.even)[1]
    steepest = np.sort(slope.ravel())[::-1]
    best = steepest[:4] @ [2.0, 2.0, 2.0, 1.0]
    assert np.isclose(found.worth(found.effort)[0], best, rtol=1e-6)
    assert any("assumption" in note for note in found.notes)


@pytest.mark.slow
def test_strong_fatigue_makes_the_plan_rest(known: Known) -> None:
    fit = known(partial(elastic, elasticity=0.9), partial(tiring, effect=-12.0, retention=0.3))
    found = plan(fit, 30.0, "buy", horizon=6, bounds=(0.0, 20.0), starts=8)
    best, even, _ = found.summary()["objective"]
    assert best > 1.05 * even
    assert len(found.rest) == 1
    assert "rest on" in found.rest[0]
    assert "because of fatigue" in found.rest[0]
    gain, carried = found._gains()
    assert np.isclose(gain, 100 * (best / even - 1))
    assert carried > 0


def test_budget_limits_and_fixed_cells_are_kept(planned: Plan) -> None:
    effort = planned.effort
    assert effort.sum() <= 22.0 * (1 + 1e-6)
    assert effort[1].sum() <= 2.0 * (1 + 1e-6)
    assert effort[:, 1].sum() <= 9.0 * (1 + 1e-6)
    assert np.array_equal(effort[2, :, 0], planned.now[2, :, 0])
    assert (effort >= 0).all()
    assert planned.spending.holds(effort, 1e-6)


def test_a_table_of_fixed_cells_means_what_its_rows_say(planned: Plan) -> None:
    outlook = planned.outlook
    dates = [str(day) for day in outlook.dates]
    table = pl.DataFrame(
        {
            "from": [dates[1], None],
            "to": [None, None],
            "unit": [None, "south"],
            "cohort": ["casual", ""],
        }
    )
    same = [{"dates": (dates[1], None), "cohorts": "casual"}, {"units": "south"}]
    found = fixed_cells(outlook, table)
    assert np.array_equal(found, fixed_cells(outlook, same))
    assert found[1:, 0, 0].all()
    assert found[:, 1].all()
    assert not found[0, 0].any()
    assert not fixed_cells(outlook, None).any()


def test_a_plan_is_never_behind_the_even_spread_or_the_present_one(planned: Plan) -> None:
    assert never_behind(planned)
    best = planned.worth(planned.effort)[0]
    assert best == max(one.worth for one in planned.solved)
    assert all(one.worth >= one.started for one in planned.solved)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [1.0, 16.0, 60.0])
def test_no_budget_leaves_a_plan_behind(two_seeds: dgd.Fit, budget: float) -> None:
    found = plan(two_seeds, budget, "click", horizon=5, starts=3)
    assert never_behind(found)
    assert found.spending.holds(found.effort, 1e-6)


def test_the_tables_of_a_plan(planned: Plan) -> None:
    table = planned.to_frame()
    assert table.columns == ["date", "unit", "cohort", "effort", "now", "even"]
    assert table.height == 20
    starts = planned.starts()
    assert starts["start"].to_list()[:2] == ["even", "now"]
    assert starts.height == 5
    assert (starts["message"].str.len_chars() > 0).all()
    summary = planned.summary()
    assert summary["spread"].to_list() == ["planned", "even", "now"]
    weighed = summary["buy"] + 0.05 * summary["arrivals"] + summary["afterwards"]
    assert np.allclose(weighed, summary["objective"], rtol=1e-9)
    told = json.loads(json.dumps(planned.payload(), default=str))
    assert told["budget"] == 22.0
    assert "against the even spread" in repr(planned)


def test_what_to_vary_next_comes_first(planned: Plan) -> None:
    table = planned.learn_next()
    assert table["gain"].to_list() == sorted(table["gain"], reverse=True)
    assert (table["sd_after"] <= table["sd"]).all()
    assert (table["gain"] >= 0).all()
    assert table["gain"][0] > 0


def test_most_is_learned_where_nothing_is_known_and_much_is_planned(known: Known) -> None:
    fit = known(without_feedback, proportional)
    found = plan(fit, 30.0, "buy", horizon=3, starts=3)
    table = found.learn_next()
    assert not table["learned"].any()
    assert np.allclose(table["sd"], 12**-0.5)
    assert (table["objective_in_doubt"] > 0).any()


@pytest.mark.long
def test_the_cautious_plan_is_better_for_the_cautious(two_seeds: dgd.Fit) -> None:
    options: dict[str, Any] = {"horizon": 5, "starts": 3, "bounds": (0.2, 4.0)}
    cautious = plan(two_seeds, 20.0, "buy", quantile=0.2, **options)
    bold = plan(two_seeds, 20.0, "buy", **options)
    assert cautious.worth(cautious.effort)[0] >= cautious.worth(bold.effort)[0] * (1 - 1e-6)
    assert bold.worth(bold.effort)[0] >= bold.worth(cautious.effort)[0] * (1 - 1e-6)
    assert never_behind(cautious)


def test_bounds_may_differ_between_cells(plain_fit: dgd.Fit) -> None:
    bounds = pl.DataFrame({"unit": ["north", "south"], "low": [0.5, 0.0], "high": [1.0, 3.0]})
    found = plan(plain_fit, 10.0, "buy", horizon=3, bounds=bounds, starts=3)
    assert (found.effort[:, 0] >= 0.5 - 1e-9).all()
    assert (found.effort[:, 0] <= 1.0 + 1e-9).all()


@pytest.mark.slow
def test_many_cells_are_planned_as_well_as_few(
    planned: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps towards corners, and the solver for few cells, on the same limits."""
    monkeypatch.setattr(solving, "MANY", 0)
    starts = {"even": planned.even}
    found = solving.solved_starts(planned.worth, planned.spending, planned.even, starts)[0]
    assert planned.spending.holds(found.effort, 1e-6)
    assert "to gain nearby" in found.message
    assert np.isclose(found.worth, planned.worth(planned.effort)[0], rtol=3e-3)


@pytest.mark.slow
def test_people_left_tired_are_paid_for(known: Known) -> None:
    """With nothing to come, effort waits for the end; with days to come it does less."""
    fit = known(partial(elastic, elasticity=0.9), partial(tiring, effect=-12.0, retention=0.8))
    options: dict[str, Any] = {"horizon": 3, "bounds": (0.0, 6.0), "starts": 4}
    careless = plan(fit, 20.0, "buy", after=0, **options)
    careful = plan(fit, 20.0, "buy", **options)
    assert careful.effort[-1].sum() < careless.effort[-1].sum()
    assert careful.worth(careful.effort)[0] > careful.worth(careless.effort)[0]
    present = careful.summary()["afterwards"][2]
    assert np.isclose(present, 0.0, atol=1e-9), "the present plan is what others are held against"


REFUSED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "no budget": ({"budget": 0.0}, ("budget", "0")),
    "negative budget": ({"budget": -3.0}, ("budget", "-3")),
    "too small": ({"budget": 1.0, "bounds": (0.5, 2.0)}, ("budget", "1", "6")),
    "unknown behaviour": ({"objective": {"sell": 1.0}}, ("sell", "buy")),
    "empty objective": ({"objective": {}}, ("objective",)),
    "weightless": ({"objective": {"buy": 0.0}}, ("objective",)),
    "endless weight": ({"objective": {"buy": float("inf")}}, ("buy", "inf")),
    "negative bounds": ({"bounds": (-1.0, 2.0)}, ("bounds", "-1")),
    "bounds crossed": ({"bounds": (3.0, 2.0)}, ("bounds", "3")),
    "day": ({"per_day": {"2030-01-01": 1.0}}, ("per_day", "2030-01-01")),
    "unit": ({"per_unit": {"west": 1.0}}, ("per_unit", "west")),
    "negative limit": ({"per_day": -1.0}, ("per_day", "-1")),
    "day too small": ({"per_day": 1.0, "bounds": (0.5, 2.0)}, ("per_day", "2")),
    "fixed": ({"fixed": {"units": "west"}}, ("fixed", "west")),
    "all fixed": ({"fixed": {}, "budget": 1e6}, ("fixed",)),
    "fixed key": ({"fixed": {"unit": "north"}}, ("fixed", "unit")),
    "fixed row": ({"fixed": pl.DataFrame({"unit": ["north", "west"]})}, ("fixed row 2", "west")),
    "fixed no rows": ({"fixed": pl.DataFrame({"unit": []})}, ("fixed has no rows", "at least")),
    "fixed number": ({"fixed": 7}, ("fixed", "not a table")),
    "quantile": ({"quantile": 1.5}, ("quantile", "1.5")),
    "horizon": ({"horizon": 0}, ("horizon",)),
    "starts": ({"starts": 0}, ("starts",)),
    "after": ({"after": -1}, ("after", "-1")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_terms_that_cannot_be_kept_are_refused_before_any_work(
    plain_fit: dgd.Fit, name: str, no_work: None
) -> None:
    given, words = REFUSED[name]
    options = {"budget": 10.0, "objective": "buy", "horizon": 3, **given}
    with refused(*words):
        plan(plain_fit, **options)


def test_a_fit_without_effort_is_refused(plain_fit: dgd.Fit, no_work: None) -> None:
    panel = replace(plain_fit.panel, has_effort=False, effort=np.ones((40, 2, 2)))
    with refused("effort", "without it"):
        plan(replace(plain_fit, panel=panel), 10.0, "buy", horizon=3)


@pytest.mark.long
def test_a_plan_keeps_its_word_in_the_world_it_was_learned_from() -> None:
    """A tired crowd with two states to be in: drawn from the true world, days under the plan
    bring what it says within a factor of two, and many times what the even spread brings."""
    world, known, ahead = dgd.example_world(), 104, 28
    panel = dgd.simulate(world, known, seed=1).panel
    ends = {"train_end": panel.dates[69], "validation_end": panel.dates[83]}
    fit = dgd.DGD(epochs=100).fit(panel, **ends, seeds=[1, 2])
    found = fit.plan(170, {"share": 1.0}, horizon=ahead, starts=2)

    def happens(effort: np.ndarray) -> float:
        whole = np.concatenate([world.effort(known), effort])
        drawn = [dgd.simulate(world, known + ahead, seed=seed, effort=whole) for seed in (1, 2, 3)]
        return float(np.mean([one.panel.behavior_counts[known:, ..., 2].sum() for one in drawn]))

    planned, even = (happens(effort) for effort in (found.effort, found.even))
    promised = found.summary()["share"]
    assert 0.5 < planned / promised[0] < 2
    assert 0.5 < even / promised[1] < 2
    assert planned > 5 * even
