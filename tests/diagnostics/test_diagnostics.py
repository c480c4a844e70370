"""Diagnostics of whole fits: what they find, and that they find what was put there."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import dgd
from dgd import diagnostics
from dgd.diagnostics.nodes import check_nodes, finer_than
from dgd.errors import InputError
from dgd.model.population.gaussian_mixture import SCALE_FLOOR, raw_scale
from dgd.panel.split import Split
from dgd.runtime import computing
from support.shaken import shaken
from support.untrained import untrained

DAYS = np.arange(35, 40)
"""The days after validation."""


@pytest.fixture(scope="module")
def fit(drawn):
    """Two seeds at random parameters: diagnostics ask nothing of how they were found."""
    return shaken(untrained(dgd.DGD(start="warmup", innovations="none"), drawn.panel), scale=0.02)


def changed(fit, where, value):
    """The fit with one part of every seed's crowd replaced."""
    with computing():
        crowds = [
            eqx.tree_at(where, crowd, jnp.asarray(value(np.array(where(crowd)))))
            for crowd in fit.crowds
        ]
    return fit.with_crowds(crowds)


def put(index, value):
    """A function that puts `value` at `index` of an array."""

    def of(array):
        array[index] = value
        return array

    return of


def warned(fit):
    return set(diagnostics.identifiability(fit, "polars")["warning"])


def test_more_nodes_change_only_what_quadrature_got_wrong(fit):
    found = check_nodes(fit, [25])
    model = fit
    own, other = (f.predict(DAYS - 1, 1).patterns[:, 0] for f in (model, model.with_nodes(25)))
    largest = np.abs(own - other).max((1, 2, 3, 4))
    np.testing.assert_allclose(found.table["probability change"], largest, rtol=1e-12)
    assert found.enough
    assert found.verdict.startswith("7 nodes are enough. With 25 nodes the joint NLL moves by")


def test_too_few_nodes_are_called_too_few(fit):
    """Two nodes cannot integrate a population this wide."""
    wide = changed(fit, lambda c: c.population.raw_diagonal, lambda x: x + 5.0).with_nodes(2)
    found = check_nodes(wide, [25])
    assert not found.enough
    assert "2 nodes are not enough" in found.verdict
    with pytest.raises(InputError, match="the fit has 2 nodes, finer names"):
        check_nodes(wide, [2])


def test_a_fit_with_many_nodes_is_held_against_more(fit):
    assert finer_than(7) == (25, 61)
    assert finer_than(61) == (123,)
    found = check_nodes(fit.with_nodes(25))
    assert set(found.table["nodes"]) == {61}
    assert found.enough


def test_the_other_form_of_a_fit_forecasts_and_saves_like_any_other(fit, tmp_path):
    apart = diagnostics.in_other_form(fit)
    apart.save(tmp_path / "apart.dgd")
    loaded = dgd.load(tmp_path / "apart.dgd")
    assert loaded.settings.readout == "separated"
    ours, theirs = (form.with_nodes(61).predict(DAYS - 1, 1) for form in (loaded, fit))
    np.testing.assert_allclose(ours.arrivals, theirs.arrivals, rtol=1e-10)
    np.testing.assert_allclose(ours.patterns, theirs.patterns, atol=1e-10)
    back = diagnostics.in_other_form(loaded)
    assert back.settings == fit.settings
    means, first = (np.asarray(f.crowds[0].population.means) for f in (back, fit))
    np.testing.assert_allclose(means, first, rtol=1e-12)


def test_people_who_are_reached_more_are_seen_more(fit):
    reached = changed(fit, lambda c: c.arrival.loading, np.ones_like)
    table = diagnostics.people(reached, "polars").filter(seed=1, cohort=fit.panel.cohorts[0])
    there, seen = (table.filter(people=view) for view in ("there", "seen"))
    assert (seen["mean"] > there["mean"]).all()
    np.testing.assert_allclose(seen["mean"] - there["mean"], there["spread"] ** 2, rtol=1e-10)
    assert seen["share"].sum() == pytest.approx(1.0)
    upper = int(np.argmax(there["mean"].to_numpy()))
    assert seen["share"][upper] > there["share"][upper]


def test_every_state_of_a_fit_keeps_its_bound(fit):
    table = diagnostics.state_limits(fit, 3)
    assert table.columns == ["seed", "day", "state", "largest", "bound", "holds"]
    assert set(table["state"]) == {"memory", "fatigue", "shift", "environment"}
    assert table.height == 2 * 3 * 4
    assert table["holds"].all()
    with pytest.raises(InputError, match="horizon 40 is longer than the 39 days"):
        diagnostics.state_limits(fit, 40)


def test_a_sound_fit_raises_no_warning_about_its_components(fit):
    assert warned(fit) <= {"few arrivals", "behavior hardly shown"}


PATHOLOGIES = {
    "components coincide": (lambda c: c.population.means, np.zeros_like),
    "weight vanished": (lambda c: c.population.logits, put((0, 0), -8.0)),
    "scale at its floor": (
        lambda c: c.population.raw_diagonal,
        put((1, 1, 0), raw_scale(1.05 * SCALE_FLOOR)),
    ),
    "factor at its edge": (
        lambda c: c.feedback.carried[0].raw_retention,
        lambda x: np.full_like(x, 9.0),
    ),
    "clipping in use": (lambda c: c.arrival.intercept, put((0, 0), -40.0)),
}


@pytest.mark.parametrize("warning", PATHOLOGIES)
def test_what_cannot_be_identified_is_named(fit, warning):
    assert warning not in warned(fit)
    sick = changed(fit, *PATHOLOGIES[warning])
    table = diagnostics.identifiability(sick, "polars").filter(warning=warning)
    assert set(table["seed"]) == set(fit.seeds)
    assert table["advice"].str.len_chars().min() > 10
    if warning == "weight vanished":
        assert set(table["where"]) == {f"cohort {fit.panel.cohorts[0]}, type 1"}


def test_few_arrivals_for_the_parameters_are_named(fit):
    two_days = replace(fit, split=Split(first=0, train_stop=2, validation_stop=3))
    table = diagnostics.identifiability(two_days, "polars")
    few = table.filter(warning="few arrivals")
    assert few.height == 1
    assert few["seed"].to_list() == [None]
    assert few["value"][0] < 10
    assert "arrivals in training for" in few["where"][0]


def test_gradients_agree_with_differences_and_reach_feedback(fit):
    settings = replace(fit.settings, expected_weight=0.0)
    light = replace(fit, settings=settings, runs=fit.runs[:1])
    table = diagnostics.gradient_check(light)
    assert table["difference"].max() < 1e-8
    for state in range(3):
        dynamics = table.filter(array=f"feedback.carried.{state}.raw_retention")
        assert dynamics["seed"].to_list() == [1]
        assert dynamics["largest gradient"].min() > 0
