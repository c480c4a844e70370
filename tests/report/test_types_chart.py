"""The chart of types shows the table of types, for crowds of any size."""

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.report import types_chart, types_table
from support.shaken import shaken
from support.untrained import untrained


@pytest.fixture(scope="module")
def some_fit(drawn: dgd.Simulated) -> dgd.Fit:
    return shaken(untrained(dgd.DGD(), drawn.panel), scale=0.4)


def test_shares_lie_side_by_side_from_nothing_to_all(some_fit: dgd.Fit) -> None:
    shares = types_table(some_fit).filter(measure="share")
    assert shares.height == 2 * 2 * 3 * 2
    for _, own in shares.group_by("seed", "cohort", "of"):
        assert own["start"][0] == pytest.approx(0.0, abs=1e-12)
        assert own["end"][-1] == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(own["start"][1:], own["end"][:-1])


def test_rates_are_those_of_the_response_types(some_fit: dgd.Fit) -> None:
    types = some_fit.response_types("polars")
    rates = types_table(some_fit).filter(measure="rate")
    for name in some_fit.panel.behaviors:
        own = rates.filter(of=name)
        assert own["value"].to_list() == types[f"rate of {name}"].to_list()


def test_the_seed_that_validates_best_is_marked(some_fit: dgd.Fit) -> None:
    best = types_table(some_fit).filter("best")["seed"].unique().to_list()
    assert best == [some_fit.best_seed]


@pytest.mark.parametrize("settings", [{"population": "point"}, {"components": 3}])
def test_any_number_of_types_can_be_drawn(
    settings: dict[str, object], drawn: dgd.Simulated
) -> None:
    fit = untrained(dgd.DGD(**settings), drawn.panel, seeds=[1])
    chart = types_chart(fit).to_dict()
    (rows, _) = chart["datasets"].values()
    assert pl.DataFrame(rows)["type"].n_unique() == len(set(types_table(fit)["type"]))
