"""However many arrive, the comparison of counts with events stays small and whole."""

import tracemalloc

import numpy as np
import pytest

import dgd
from dgd.diagnostics import check, counts_against_events
from dgd.diagnostics.events_alone import MOST_ALONE, told_one_by_one
from dgd.panel.contexts import EventCounts
from support.shaken import shaken
from support.untrained import untrained


def cells(most: int) -> EventCounts:
    rng = np.random.default_rng(1)
    return EventCounts.of_cells(rng.integers(0, most, size=(5, 2, 3, 4)))


def per_cell(events: EventCounts) -> np.ndarray:
    grid = np.zeros((5, 2, 3, 4), np.int64)
    np.add.at(grid, tuple(events.cell.T), events.patterns)
    return grid


def test_few_events_all_stand_alone() -> None:
    few = cells(4)
    told = told_one_by_one(few)
    assert told.form == "one by one"
    assert len(told.events.cell) == few.patterns.sum()


@pytest.mark.parametrize("most", [1, 7, 100, 1000])
def test_of_many_events_some_stand_alone_and_none_is_lost(most: int) -> None:
    many = cells(400)
    told = told_one_by_one(many, most)
    assert (told.alone, told.all) == (most, many.patterns.sum())
    assert len(told.events.cell) <= most + len(many.cell)
    assert (per_cell(told.events) == per_cell(many)).all()
    assert (np.diff(told.events.cell[:, 0]) >= 0).all()
    assert (told.events.patterns.sum(-1) == 1).sum() >= most - len(many.cell)


@pytest.mark.slow
def test_a_million_arrivals_a_day_need_no_more_memory_than_a_few() -> None:
    world = dgd.example_world(
        units=["shop"], cohorts=["all"], behaviors=["click"], arrivals=1_000_000
    )
    panel = dgd.simulate(world, 40, seed=5).panel
    light = {"calendar": "none", "dynamics": "none", "population": "discrete"}
    model = dgd.DGD(start="warmup", expected_weight=0.0, **light)
    fit = shaken(untrained(model, panel, seeds=[1]))
    tracemalloc.start()
    try:
        table = counts_against_events(fit)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert panel.arrivals[:28].sum() > 10_000_000
    assert peak < 100 * 2**20
    assert table["groups"].max() <= MOST_ALONE + 28
    assert table["events"][0].startswith("50,000 of ")
    assert table["objective difference"].max() < 1e-12
    assert table["gradient difference"].max() < 1e-12
    said = check(fit).summary()["check"].to_list()
    assert any(name.startswith("gradient between 50,000 of ") for name in said)
