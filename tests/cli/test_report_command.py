"""`dgd report`: a page of any fit that can have one, and a sentence where there is none."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dgd
from dgd.baselines import GRU
from support.random_choice import make, random_fit
from support.shell import assert_refused, done, run
from support.shop import Shop
from support.untrained import untrained


@pytest.fixture(scope="module")
def demand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demand") / "demand.dgd"
    random_fit(make()).save(path)
    return path


@pytest.mark.slow
def test_a_fit_becomes_a_page(shops: Callable[[str], Shop], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    model = shops("csv").model
    told = json.loads(
        done("report", model, "-o", page, "--horizon", 3, "--levels", 50, "--json").stdout
    )
    assert told["report"] == str(page)
    assert told["bytes"] == page.stat().st_size < 3_000_000
    assert "What is coming" in page.read_text()


def test_demand_becomes_a_page(demand: Path, tmp_path: Path) -> None:
    page = tmp_path / "demand.html"
    shown = done("report", demand, "-o", page, "--title", "Tea & <b>").stdout
    assert f"wrote {page}" in shown
    assert "<h1>Tea &amp; &lt;b&gt;</h1>" in page.read_text()


def test_what_cannot_be_is_refused_before_any_work(
    demand: Path, drawn: dgd.Simulated, tmp_path: Path, no_work: None
) -> None:
    page = tmp_path / "report.html"
    assert_refused(run("report", demand, "-o", tmp_path / "report.pdf"), "report.pdf", ".html")
    assert_refused(run("report", demand, "-o", page, "--horizon", 3), "--horizon", "choice fit")
    assert_refused(run("report", demand, "-o", page, "--levels", "0"), "--levels", "0")
    untrained(GRU(), drawn.panel).save(tmp_path / "gru.dgd")
    assert_refused(run("report", tmp_path / "gru.dgd", "-o", page), "GRU fit")
    assert not page.exists()
