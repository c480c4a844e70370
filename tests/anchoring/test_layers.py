"""Layers of tilts: units and cells move by themselves only beyond what cohorts share."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.anchoring.layers import MOVEMENTS, the_day_before
from dgd.anchoring.pattern_anchor import PatternAnchor
from dgd.panel.split import Split
from dgd.scoring.behavior_scores import joint_nll

SPLIT = Split(0, 60, 74)


@pytest.mark.parametrize(
    ("value", "units", "cohorts", "levels"),
    [
        ("both", 2, 3, [{"all", "cohort"}, {"unit"}, {"cell"}]),
        ("both", 1, 3, [{"all", "cohort"}]),
        ("both", 2, 1, [{"all"}, {"unit"}]),
        ("shared", 2, 3, [{"all", "cohort"}]),
        ("weekdays", 2, 3, [{"all", "cohort"}, {"unit"}]),
        ("none", 2, 3, []),
    ],
)
def test_layers_are_those_that_can_say_something(value, units, cohorts, levels) -> None:
    layers = MOVEMENTS[value].candidates(units, cohorts, 7)
    assert [{tilt.level for tilt in layer} for layer in layers] == levels


def panel_of(shift: np.ndarray) -> dgd.Panel:
    """Two units and two cohorts, whose log-odds of the one behaviour move [day, unit, cohort]."""
    rng = np.random.default_rng(5)
    clicks = rng.binomial(300, 1 / (1 + np.exp(1.0 - shift)))
    rows = [
        {"date": day, "unit": f"u{u}", "cohort": f"g{g}", "click": click, "count": count}
        for day, u, g in np.ndindex(*shift.shape)
        for click, count in enumerate((300 - clicks[day, u, g], clicks[day, u, g]))
    ]
    first = np.datetime64("2024-01-01")
    table = {name: [row[name] for row in rows] for name in rows[0]}
    table["date"] = [str(first + day) for day in table["date"]]
    return dgd.Panel.from_counts(pl.DataFrame(table), behaviors=["click"])


def losses(shift: np.ndarray) -> dict[str, float]:
    """Joint NLL one day ahead, after the split, with and without movements of units and cells."""
    panel = panel_of(shift)
    origins = np.arange(SPLIT.validation_stop - 1, panel.days - 1)
    found = {}
    for value in ("both", "shared"):
        anchor = PatternAnchor.chosen(panel, SPLIT, MOVEMENTS[value])
        said = anchor.predict(panel, origins, 1)[0]
        found[value] = joint_nll(panel.patterns[origins + 1].astype(float), said)
    return found


def wave(days: int, length: float) -> np.ndarray:
    return np.sin(np.arange(days) / length)


def test_a_unit_that_moves_by_itself_is_followed() -> None:
    shift = np.zeros((100, 2, 2))
    shift[:, 1, :] = wave(100, 2.0)[:, None]
    found = losses(shift)
    assert found["both"] < found["shared"] - 0.01


def test_where_all_move_alike_layers_of_units_and_cells_do_no_harm() -> None:
    shift = np.broadcast_to(wave(100, 2.0)[:, None, None], (100, 2, 2))
    found = losses(shift)
    assert found["both"] < found["shared"] + 0.002


def test_where_nothing_moves_layers_of_units_and_cells_do_no_harm() -> None:
    found = losses(np.zeros((100, 2, 2)))
    assert found["both"] < found["shared"] + 0.0005


def test_without_weight_a_layer_changes_nothing() -> None:
    panel = panel_of(np.zeros((100, 2, 2)))
    anchor = PatternAnchor.chosen(panel, SPLIT, MOVEMENTS["both"])
    silent = tuple(
        replace(layer, shares=np.eye(layer.shares.shape[1])[[0] * len(layer.shares)])
        for layer in anchor.layers
    )
    bare = replace(anchor, layers=())
    quiet = replace(anchor, layers=silent)
    origins = np.array([80, 90])
    np.testing.assert_allclose(
        quiet.predict(panel, origins, 3), bare.predict(panel, origins, 3), rtol=1e-12
    )


def test_what_was_expected_of_a_day_was_said_the_day_before() -> None:
    said = np.arange(4.0).reshape(4, 1, 1, 1)
    np.testing.assert_array_equal(the_day_before(said).ravel(), [0, 0, 1, 2])
