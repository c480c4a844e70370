"""Diagnostics of whole fits: what they find, and that they find what was put there."""

import json
import re
from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import dgd
from dgd import diagnostics
from dgd.cli.app import app
from dgd.diagnostics.nodes import check_nodes, finer_than
from dgd.errors import InputError
from dgd.model.population import SCALE_FLOOR, raw_scale
from dgd.panel.split import Split
from dgd.paper.models import fit_on
from dgd.runtime import computing
from support.real_data import real_data


def changed(fit, where, value):
    """The fit with one part of every seed's model replaced."""
    with computing():
        models = [eqx.tree_at(where, model, value(where(model))) for model in fit.models]
    return fit.with_models(models)


def warned(fit):
    return set(diagnostics.identifiability(fit, "polars")["warning"])


def test_more_nodes_change_only_what_quadrature_got_wrong(fit):
    found = check_nodes(fit, [25])
    fine = fit.with_nodes(25)
    days = np.arange(fit.split.validation_stop, fit.panel.days)
    own, other = (f.predict(days - 1, 1)[1][:, 0] for f in (fit, fine))
    largest = np.abs(own - other).max((1, 2, 3, 4))
    np.testing.assert_allclose(found.table["probability change"], largest, rtol=1e-12)
    assert found.enough
    assert found.verdict.startswith("7 nodes are enough. With 25 nodes the joint NLL moves by")


def test_too_few_nodes_are_called_too_few(fit):
    """Two nodes cannot integrate a population this wide."""
    wide = changed(fit, lambda m: m.population.raw_diagonal, lambda x: x + 5.0).with_nodes(2)
    found = check_nodes(wide)
    assert not found.enough
    assert "2 nodes are not enough" in found.verdict
    with pytest.raises(InputError, match="the fit has 2 nodes, finer names"):
        check_nodes(wide, [2])


def test_a_fit_with_many_nodes_is_held_against_more(fit):
    assert finer_than(7) == (25, 61)
    assert finer_than(25) == (61,)
    assert finer_than(61) == (123,)
    found = check_nodes(fit.with_nodes(61))
    assert set(found.table["nodes"]) == {123}
    assert found.enough


def test_a_separated_fit_forecasts_and_saves_like_any_other(fit, tmp_path):
    apart = diagnostics.separated(fit)
    apart.save(tmp_path / "apart.dgd")
    loaded = dgd.load(tmp_path / "apart.dgd")
    assert loaded.settings.readout == "separated"
    origins = np.array([34, 36])
    ours, theirs = (form.with_nodes(61).predict(origins, 3) for form in (loaded, fit))
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-10)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-10)
    back = diagnostics.joined(loaded)
    np.testing.assert_allclose(
        back.models[0].population.means, fit.models[0].population.means, atol=1e-12
    )
    with pytest.raises(InputError, match="separated already"):
        diagnostics.separated(apart)
    with pytest.raises(InputError, match="weighted by arrivals already"):
        diagnostics.joined(fit)


def test_people_who_are_reached_more_are_seen_more(fit):
    reached = changed(fit, lambda m: m.arrival.loading, jnp.ones_like)
    table = diagnostics.people(reached, "polars").filter(seed=1, cohort=fit.panel.cohorts[0])
    there, seen = (table.filter(people=view) for view in ("there", "seen"))
    assert (seen["mean"] > there["mean"]).all()
    np.testing.assert_allclose(seen["mean"] - there["mean"], there["spread"] ** 2, rtol=1e-10)
    assert seen["share"].sum() == pytest.approx(1.0)
    upper = int(np.argmax(there["mean"].to_numpy()))
    assert seen["share"][upper] > there["share"][upper]


def test_a_sound_fit_raises_no_warning_about_its_components(fit):
    assert warned(fit) <= {"few arrivals", "behavior hardly shown"}


PATHOLOGIES = {
    "components coincide": (lambda m: m.population.means, jnp.zeros_like),
    "weight vanished": (
        lambda m: m.population.logits,
        lambda x: x.at[0, 0].set(x[0, 1] - 8.0),
    ),
    "scale at its floor": (
        lambda m: m.population.raw_diagonal,
        lambda x: x.at[1, 1, 0].set(raw_scale(1.05 * SCALE_FLOOR)),
    ),
    "factor at its edge": (
        lambda m: m.feedback.raw_memory_retention,
        lambda x: jnp.full_like(x, 9.0),
    ),
    "clipping in use": (lambda m: m.arrival.intercept, lambda x: x.at[0, 0].set(-40.0)),
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
    table = diagnostics.gradient_check(fit)
    assert table["difference"].max() < 1e-8
    dynamics = table.filter(array="feedback.raw_memory_retention")
    assert dynamics.height == 2
    assert dynamics["largest gradient"].min() > 0


def test_the_shell_checks_a_model(fit, tmp_path):
    fit.save(tmp_path / "model.dgd")
    call = ["check", str(tmp_path / "model.dgd"), "--charts", str(tmp_path / "charts")]
    told = CliRunner().invoke(app, call)
    assert told.exit_code == 0, told.output
    assert "error of log-probability" in told.output
    assert "7 nodes are enough" in told.output
    assert "All errors are within their bounds" in told.output
    assert (tmp_path / "charts" / "people.png").stat().st_size > 10_000
    machine = CliRunner().invoke(app, [*call[:2], "--json"])
    found = json.loads(machine.output)
    assert found["enough_nodes"]
    assert found["bounds_hold"]
    expect_equal_supervision(pl.DataFrame(found["tables"]["Counts against events"]))
    assert len(found["tables"]) == 7
    assert len(found["summary"]) == 14


APPENDIX_F = {7: 1e-3, 25: 1e-5, 61: 1e-8}
"""How far the two readouts' NLL may differ, by nodes."""


def expect_equal_readouts(table: pl.DataFrame) -> None:
    for nodes, most in APPENDIX_F.items():
        assert table.filter(nodes=nodes)["NLL difference"].max() < most


def expect_equal_supervision(table: pl.DataFrame) -> None:
    assert table["objective difference"].max() < 1e-13
    assert table["gradient difference"].max() < 1e-14


def test_theory_holds_on_a_fit_to_retail():
    data = dgd.datasets.online_retail(real_data("online_retail_ii"), 2010)
    fit = fit_on(data, dgd.DGD.paper(summary_retention=data.summary_retention))
    assert check_nodes(fit).enough
    for table in (
        diagnostics.quadrature_bounds(fit),
        diagnostics.error_propagation(fit),
        diagnostics.state_limits(fit),
    ):
        assert table["holds"].all()
    expect_equal_readouts(diagnostics.tilting_table(fit))


@pytest.fixture(scope="module")
def kuairand_fit():
    data = dgd.datasets.kuairand(real_data("kuairand_pure"), "late")
    model = dgd.DGD(summary_retention=data.summary_retention, start="training", epochs=30)
    window = data.window
    return model.fit(
        data.panel,
        warmup_end=window.warmup_end,
        train_end=window.train_end,
        validation_end=window.validation_end,
        seeds=[20260915],
    )


def test_readouts_agree_on_a_fit_to_kuairand(kuairand_fit):
    expect_equal_readouts(diagnostics.tilting_table(kuairand_fit))


@pytest.mark.slow
def test_theory_holds_on_a_fit_to_kuairand(kuairand_fit):
    found = diagnostics.check(kuairand_fit)
    assert found.nodes.enough
    assert found.bounds_hold
    expect_equal_supervision(found.tables["Counts against events"])


def test_the_page_on_diagnostics_runs_as_written(capsys):
    page = Path(__file__).parents[2] / "docs" / "diagnostics.md"
    example = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)[0]
    exec(compile(example, page.name, "exec"), {})
    assert "7 nodes are enough" in capsys.readouterr().out
