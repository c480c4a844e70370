"""The method figure: every panel's numbers follow from those before, and are the model's own."""

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.paper.figures import FIGURES
from dgd.paper.method_day import BASE, TRANSLATED, WHOLE, MethodDay
from dgd.paper.method_figure import method_chart, telling_day
from dgd.paper.models import Scored
from dgd.paper.windows import Windows
from support.shaken import shaken
from support.untrained import untrained

DAY, UNIT, COHORT = 36, 1, 2


@pytest.fixture(scope="module")
def some_fit(drawn: dgd.Simulated) -> dgd.Fit:
    model = dgd.DGD(innovations="none")
    return shaken(untrained(model, drawn.panel), scale=0.4)


@pytest.fixture(scope="module")
def day(some_fit: dgd.Fit) -> MethodDay:
    return MethodDay.of(some_fit, 0, DAY, UNIT, COHORT)


@pytest.fixture(scope="module")
def predicted(some_fit: dgd.Fit):
    return some_fit.predict(np.array([DAY - 1]), 1)


def test_nodes_add_up_to_pattern_intensities_and_these_to_all_arrivals(day, predicted):
    nodes, patterns = day.node_table(), day.pattern_table()
    summed = nodes.group_by("pattern", maintain_order=True).agg(pl.col("contribution").sum())
    found = patterns.join(summed, on="pattern")
    np.testing.assert_allclose(found["contribution"], found["intensity"], rtol=1e-12)
    assert patterns["intensity"].sum() == pytest.approx(day.total, rel=1e-12)
    arrivals = predicted.arrivals[0, 0, 0, UNIT, COHORT]
    assert day.size * day.total == pytest.approx(arrivals, rel=1e-9)


def test_a_node_adds_its_weight_times_intensity_times_probability(day):
    nodes = day.node_table()
    product = nodes["weight"] * nodes["intensity"] * nodes["probability"]
    np.testing.assert_allclose(nodes["contribution"], product, rtol=1e-12)
    each = nodes.group_by("node").agg(pl.col("probability").sum(), pl.col("weight").first())
    np.testing.assert_allclose(each["probability"], 1.0, rtol=1e-12)
    assert each["weight"].sum() == pytest.approx(1.0)
    assert nodes["propensity"].is_sorted()


def test_probabilities_are_the_models_with_the_third_behaviour_summed_over(day, predicted):
    table = day.pattern_table()
    q = predicted.patterns[0, 0, 0, UNIT, COHORT]
    assert table["probability"].sum() == pytest.approx(1.0)
    np.testing.assert_allclose(table["probability"], q[:4] + q[4:], rtol=1e-9)
    assert table["pattern"].to_list() == ["neither", "only click", "only like", "click and like"]


def test_counts_are_expected_beside_those_recorded(day, some_fit, predicted):
    table = day.count_table()
    panel = some_fit.panel
    recorded = [
        panel.arrivals[DAY, UNIT, COHORT],
        *panel.behavior_counts[DAY, UNIT, COHORT][:2],
    ]
    assert table["recorded"].to_list() == pytest.approx(recorded)
    shown = predicted.behavior_counts[0, 0, 0, UNIT, COHORT][:2]
    assert table["expected"].to_list()[1:] == pytest.approx(list(shown), rel=1e-9)


def test_the_state_translates_the_mixture_and_its_nodes_alike(day, some_fit):
    table, nodes = day.mixture_table(), day.node_table()
    shift = np.asarray(some_fit.states[0].carried["shift"])[DAY, COHORT, 0]
    assert shift != 0
    np.testing.assert_allclose(nodes["propensity"] - nodes["base propensity"], shift)
    means = {}
    for name in (BASE, TRANSLATED):
        own = table.filter(mixture=name, part=WHOLE)
        assert np.trapezoid(own["density"], own["propensity"]) == pytest.approx(1.0, abs=2e-3)
        means[name] = np.trapezoid(own["density"] * own["propensity"], own["propensity"])
    assert means[TRANSLATED] - means[BASE] == pytest.approx(shift, abs=1e-2)


def test_the_day_drawn_is_after_training_and_moved_furthest(some_fit):
    day = telling_day(some_fit)
    states = np.asarray(some_fit.states[0].carried["shift"])[28:40, day.cohort, 0]
    assert day.day >= some_fit.split.train_stop
    assert abs(day.shift) == pytest.approx(np.abs(states).max())
    titles = [part["title"]["text"][:3] for part in method_chart(day).to_dict()["hconcat"]]
    assert titles == ["(a)", "(b)", "(c)"]


def test_one_behaviour_is_drawn_by_itself() -> None:
    world = dgd.simulate(dgd.example_world(arrivals=5, behaviors=["click"]), 40, seed=3)
    day = telling_day(untrained(dgd.DGD(innovations="none"), world.panel, seeds=[1]))
    assert day.pattern_table()["pattern"].to_list() == ["no click", "click"]


def test_populations_without_a_density_are_refused(drawn):
    points = untrained(dgd.DGD(population="discrete"), drawn.panel)
    with pytest.raises(dgd.InputError, match="population=gaussian"):
        telling_day(points)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_without_its_data_is_refused_in_a_sentence(name, tmp_path):
    told: list[str] = []
    with pytest.raises(dgd.InputError, match="dgd data fetch online-retail"):
        FIGURES[name](Scored(Windows(tmp_path, told.append), told.append))
