"""Scenarios: the level of the forecast, the response of the model, and ranges that fit them."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.runtime import computing
from dgd.scenarios import Change, ScenarioComparison, scenario
from dgd.scenarios.causes import CAUSES
from scenarios.known_crowds import elastic, proportional, tiring, without_feedback
from support.refusals import refused
from support.untrained import untrained

CASUAL = Change("effort", "multiply", 1.5, cohorts="casual")
Known = Callable[..., dgd.Fit]


@pytest.fixture(scope="module")
def compared(two_seeds: dgd.Fit) -> ScenarioComparison:
    return scenario(two_seeds, CASUAL, 5, paths=400, levels=[50, 80])


def test_the_baseline_is_the_forecast(two_seeds: dgd.Fit, compared: ScenarioComparison) -> None:
    panel = two_seeds.panel
    dates = panel.period.range(panel.dates[-1], 6)[1:]
    day, unit, cohort = (i.ravel() for i in np.indices((5, 2, 2)))
    effort = pl.DataFrame(
        {
            "date": dates[day],
            "unit": [panel.units[i] for i in unit],
            "cohort": [panel.cohorts[i] for i in cohort],
            "effort": panel.effort[-7:-2].ravel(),
        }
    )
    forecast = two_seeds.forecast(5, effort=effort)
    assert np.allclose(compared.baseline[..., 0], forecast.arrivals, rtol=1e-9)
    assert np.allclose(compared.baseline[..., 1:], forecast.behavior_counts, rtol=1e-9)


def test_proportional_contact_doubles_arrivals_and_keeps_answers(known: Known) -> None:
    found = scenario(
        known(without_feedback, proportional), Change("effort", "multiply", 2.0), 5, paths=0
    )
    assert np.allclose(found.changed, 2 * found.baseline, rtol=1e-12)
    split = found.split()
    assert np.allclose(split[CAUSES[0]], split["difference"], rtol=1e-12)


def test_elastic_contact_rises_by_its_power(known: Known) -> None:
    fit = known(without_feedback, partial(elastic, elasticity=0.5))
    found = scenario(fit, Change("effort", "multiply", 4.0), 5, paths=0)
    assert np.allclose(found.changed, 2 * found.baseline, rtol=1e-12)


def test_fatigue_lowers_what_later_days_answer(known: Known) -> None:
    found = scenario(known(partial(tiring, effect=-3.0)), Change("effort", "multiply", 3.0), 5,
                     paths=0)  # fmt: skip
    assert (found.causes[1:, 3, 1:] < 0).all()
    assert np.allclose(found.causes[:, 3, 0], 0.0), "fatigue moves answers here, not arrivals"


def test_other_people_arrive_where_cohorts_change_apart(compared: ScenarioComparison) -> None:
    assert not np.allclose(compared.causes[:, 1, 1:], 0.0)
    untouched = compared.changed[:, :, 1] - compared.baseline[:, :, 1]
    assert np.allclose(untouched, 0.0, atol=1e-9)


def test_a_feature_moves_how_the_same_people_answer(varied_panel: dgd.Panel) -> None:
    rng = np.random.default_rng(1)
    panel = replace(varied_panel, features=rng.normal(size=(40, 2, 2, 1)), feature_names=("price",))
    fit = untrained(dgd.DGD(components=1, nodes=3), panel, seeds=[1])
    crowd = fit.crowds[0]
    with computing():
        effect = 0 * crowd.response.feature_effect
        effect = effect.at[fit.features.names(panel).index("price")].set(0.8)
    fit = fit.with_crowds([replace(crowd, response=replace(crowd.response, feature_effect=effect))])
    found = scenario(fit, Change("price", "shift", 1.0), 4, paths=0)
    assert (found.causes[:, 2, 1:] > 0).all()
    assert np.allclose(found.causes[:, 0], 0.0, atol=1e-9)
    assert len(found.notes) == 2


def test_tables_add_up(compared: ScenarioComparison) -> None:
    by_date, totals = compared.to_frame(), compared.totals()
    parts = compared.totals(["unit", "cohort"])
    assert by_date.height == 5 * 3
    assert parts.height == 4 * 3
    for name in ("baseline", "changed", "difference"):
        for table in (by_date, parts, compared.totals(["cohort"]), compared.totals("unit")):
            summed = table.group_by("series", maintain_order=True).agg(pl.col(name).sum())
            assert np.allclose(summed[name], totals[name], rtol=1e-9, atol=1e-9)


def test_ranges_hold_the_expectation_and_widen_with_the_level(
    compared: ScenarioComparison,
) -> None:
    totals = compared.totals()
    for part in ("baseline", "changed", "difference"):
        low, high = totals[f"{part}_low_80"], totals[f"{part}_high_80"]
        assert (low <= totals[f"{part}_low_50"]).all()
        assert (high >= totals[f"{part}_high_50"]).all()
        assert (low < high).all()
    assert (totals["baseline_low_80"] < totals["baseline"]).all()
    assert (totals["baseline"] < totals["baseline_high_80"]).all()


def test_futures_share_their_chance(compared: ScenarioComparison) -> None:
    assert compared.drawn is not None
    apart = compared.drawn.difference.by_cell[..., 0]
    alone = compared.drawn.baseline.by_cell[..., 0]
    spread = apart.std(0) / alone.std(0)
    assert (spread[:, 1] < 0.5).all(), "untouched cohorts differ by what units share alone"
    by_chance = compared.drawn.changed.by_cell[..., 0] - np.roll(alone, 2, 0)
    assert (apart.std(0) < by_chance.std(0)).all()


def test_changes_beyond_the_training_days_are_flagged(two_seeds: dgd.Fit) -> None:
    change = Change("effort", "set", 9.0, units="north", cohorts="casual")
    found = scenario(two_seeds, change, 5, paths=0)
    assert len(found.warnings) == 1
    for word in ("north", "casual", "9", "effort"):
        assert word in found.warnings[0]
    within = scenario(two_seeds, Change("effort", "set", 1.2), 5, paths=0)
    assert within.warnings == ()


def test_an_assumed_response_is_said_to_be_one(known: Known) -> None:
    for varied in (True, False):
        fit = known(partial(elastic, elasticity=0.5, varied=varied))
        found = scenario(fit, CASUAL, 5, paths=0)
        told = [note for note in found.notes if "assumption" in note]
        assert len(told) == (0 if varied else 1)
        assert varied or "casual" in told[0]


def test_results_are_plain_values_and_a_line(compared: ScenarioComparison) -> None:
    told = json.loads(json.dumps(compared.payload(), default=str))
    assert {"rows", "totals", "split", "notes", "warnings", "origin", "horizon"} == told.keys()
    assert "arrivals" in repr(compared)
    assert "%" in repr(compared)


def test_no_paths_no_ranges(two_seeds: dgd.Fit) -> None:
    table = scenario(two_seeds, CASUAL, 5, paths=0).to_frame()
    assert table.columns == ["date", "series", "baseline", "changed", "difference"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"levels": [0]}, ("levels", "0")),
        ({"paths": -1}, ("paths", "-1")),
        ({"origin": "2030-01-01"}, ("origin", "2030-01-01")),
    ],
)
def test_wrong_questions_are_refused(
    two_seeds: dgd.Fit, options: dict[str, object], words: tuple[str, ...]
) -> None:
    with refused(*words):
        scenario(two_seeds, CASUAL, 5, **options)


def test_totals_by_anything_else_are_refused(compared: ScenarioComparison) -> None:
    with refused("by", "weekday"):
        compared.totals(["weekday"])
    with refused("by", "week"):
        compared.split("week")
