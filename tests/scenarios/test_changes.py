"""Changes as users write them: one way to mean each, and a sentence for what cannot be."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.scenarios.changes import Change, changed_future, named_changes
from dgd.scenarios.future import Future, Outlook
from support.refusals import refused


def changed(fit: dgd.Fit, changes: Any, horizon: int = 5) -> tuple[Future, Future]:
    outlook = Outlook.of(fit, horizon)
    return outlook.planned, changed_future(outlook, named_changes(changes, outlook.panel))


def test_only_the_cells_that_are_named_change(plain_fit: dgd.Fit) -> None:
    dates = Outlook.of(plain_fit, 5).dates
    change = Change("effort", "multiply", 2.0, (dates[1], dates[2]), "north", ["devoted"])
    before, after = changed(plain_fit, change)
    ratio = after.effort / before.effort
    assert (ratio[1:3, 0, 1] == 2).all()
    ratio[1:3, 0, 1] = 1
    assert (ratio == 1).all()
    assert np.array_equal(before.size, after.size)


@pytest.mark.parametrize(("how", "made"), [("set", 3.0), ("multiply", 6.0), ("shift", 5.0)])
def test_values_are_set_multiplied_or_shifted(plain_fit: dgd.Fit, how: str, made: float) -> None:
    first = Change("effort", "set", 2.0)
    _, after = changed(plain_fit, [first, Change("effort", how, 3.0)])
    assert (after.effort == made).all()


def test_a_table_means_what_changes_mean(plain_fit: dgd.Fit) -> None:
    dates = Outlook.of(plain_fit, 5).dates.astype(object)
    table = pl.DataFrame(
        {
            "what": ["effort", "size"],
            "how": ["multiply", "shift"],
            "value": [0.5, 10.0],
            "from": [dates[2], None],
            "to": [None, dates[1]],
            "unit": ["south", ""],
            "cohort": [None, "casual"],
        }
    )
    same = [
        {"what": "effort", "how": "multiply", "value": 0.5, "dates": (dates[2], dates[4]),
         "units": "south"},
        Change("size", "shift", 10.0, (dates[0], dates[1]), cohorts="casual"),
    ]  # fmt: skip
    for part in ("effort", "size"):
        of_table, of_list = (changed(plain_fit, one)[1] for one in (table, same))
        assert np.array_equal(getattr(of_table, part), getattr(of_list, part))


REFUSED: dict[str, tuple[Any, tuple[str, ...]]] = {
    "unit": (Change("effort", "set", 2, units="west"), ("unit", "west", "north")),
    "cohort": (Change("effort", "set", 2, cohorts=["new"]), ("cohort", "new", "casual")),
    "feature": (Change("price", "set", 2), ("price", "effort")),
    "date": (Change("effort", "set", 2, "2023-01-01"), ("2023-01-01", "2022-02-12")),
    "order": (Change("effort", "set", 2, ("2022-02-14", "2022-02-13")), ("2022-02-14", "after")),
    "negative": (Change("effort", "shift", -9), ("effort", "unit north")),
    "size": (Change("size", "multiply", -1), ("size", "unit north")),
    "nothing": (Change("effort", "multiply", 1), ("as it is",)),
    "none": ([], ("changes", "empty")),
    "how": ({"what": "effort", "how": "double", "value": 2}, ("how", "double")),
    "value": ({"what": "effort", "how": "set", "value": float("nan")}, ("value", "nan")),
    "missing": ({"what": "effort", "value": 2}, ("how",)),
    "key": ({"what": "effort", "how": "set", "value": 2, "unit": "north"}, ("unit",)),
    "row": (
        pl.DataFrame({"what": ["effort", "effort"], "how": ["set", "sett"], "value": [1.0, 2.0]}),
        ("changes row 2", "sett"),
    ),
    "column": (
        pl.DataFrame({"what": ["effort"], "how": ["set"], "value": [1.0], "units": ["north"]}),
        ("units", "unit"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(plain_fit: dgd.Fit, name: str) -> None:
    changes, words = REFUSED[name]
    with refused(*words):
        changed(plain_fit, changes)


def test_effort_of_a_fit_without_effort_is_refused(plain_fit: dgd.Fit) -> None:
    from dataclasses import replace

    panel = replace(plain_fit.panel, has_effort=False, effort=np.ones((40, 2, 2)))
    with refused("effort", "without effort"):
        changed(replace(plain_fit, panel=panel), Change("effort", "multiply", 2))
