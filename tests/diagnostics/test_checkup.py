"""All diagnostics in one call: in the shell, and on fits to real data."""

import json

import polars as pl
import pytest

import dgd
from dgd import diagnostics
from dgd.diagnostics.checkup import EVENTS, REACH
from dgd.paper.models import fit_on
from support.real_data import real_data
from support.shaken import shaken
from support.shell import done
from support.untrained import untrained

APPENDIX_F = {7: 1e-3, 25: 1e-5, 61: 1e-8}
"""How far the two readouts' NLL may differ, by nodes."""


def expect_equal_readouts(table: pl.DataFrame) -> None:
    for nodes, most in APPENDIX_F.items():
        assert table.filter(nodes=nodes)["NLL difference"].max() < most


def expect_equal_supervision(table: pl.DataFrame) -> None:
    assert table["objective difference"].max() < 1e-13
    assert table["gradient difference"].max() < 1e-14


@pytest.fixture(scope="module")
def small():
    """One shop, one cohort, one behaviour: the least that everything can be checked on."""
    world = dgd.example_world(units=["shop"], cohorts=["all"], behaviors=["click"])
    panel = dgd.simulate(world, 40, seed=5).panel
    light = {"calendar": "none", "dynamics": "none", "population": "discrete"}
    model = dgd.DGD(start="warmup", expected_weight=0.0, **light)
    return shaken(untrained(model, panel, seeds=[1]))


@pytest.fixture(scope="module")
def found(small):
    return diagnostics.check(small)


@pytest.mark.slow
def test_everything_about_a_fit_is_checked_in_one_call(found):
    assert found.nodes.enough
    assert found.bounds_hold
    assert found.verdict.startswith("7 nodes are enough.")
    assert found.verdict.endswith("All errors are within their bounds.")
    expect_equal_readouts(found.tables["Weighted and separated readout"])
    expect_equal_supervision(found.tables[EVENTS])
    assert len(found.tables) == 7
    assert found.summary().height == 3 + 4 + 1 + found.tables[REACH]["state"].n_unique() + 3 + 2


@pytest.mark.slow
def test_the_shell_checks_a_model(small, found, tmp_path):
    small.save(tmp_path / "model.dgd")
    told = done("check", tmp_path / "model.dgd", "--charts", tmp_path / "charts")
    assert "error of log-probability" in told.output
    assert found.verdict in " ".join(told.output.split())
    for name in ("checks", "people"):
        for kind in ("html", "png", "svg"):
            file = tmp_path / "charts" / f"{name}.{kind}"
            assert f"wrote {file}" in told.output
            assert file.stat().st_size > 10_000
    machine = json.loads(done("check", tmp_path / "model.dgd", "--json").output)
    assert machine["enough_nodes"]
    assert machine["bounds_hold"]
    assert {title: len(rows) for title, rows in machine["tables"].items()} == {
        title: table.height for title, table in found.tables.items()
    }
    assert len(machine["summary"]) == found.summary().height
    assert machine["charts"] == []


@pytest.mark.long
def test_theory_holds_on_a_fit_to_retail():
    data = dgd.datasets.online_retail(real_data("online_retail_ii"), 2010)
    found = diagnostics.check(fit_on(data, dgd.DGD.paper(summary_retention=data.summary_retention)))
    assert found.nodes.enough
    assert found.bounds_hold
    expect_equal_readouts(found.tables["Weighted and separated readout"])
    expect_equal_supervision(found.tables[EVENTS])


@pytest.mark.long
def test_theory_holds_on_a_fit_to_kuairand():
    data = dgd.datasets.kuairand(real_data("kuairand_pure"), "late")
    model = dgd.DGD(summary_retention=data.summary_retention, start="training", epochs=30)
    window = data.window
    fit = model.fit(
        data.panel,
        warmup_end=window.warmup_end,
        train_end=window.train_end,
        validation_end=window.validation_end,
        seeds=[20260915],
    )
    found = diagnostics.check(fit)
    assert found.nodes.enough
    assert found.bounds_hold
    expect_equal_readouts(found.tables["Weighted and separated readout"])
    expect_equal_supervision(found.tables[EVENTS])
