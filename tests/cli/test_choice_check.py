"""`dgd check`, `dgd info` and `dgd choice fit` on demand: what was decided, and how sure it is."""

import json
from pathlib import Path

import pytest

import dgd
from dgd.diagnostics import check_choice
from support.logit_markets import PEOPLE, SENSITIVITY, logit_table
from support.shell import done

CONVERGENCE = "search: converged; largest slope"


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("alike") / "sales.csv"
    logit_table().write_csv(file)
    return file


@pytest.fixture(scope="module")
def fitted(sales: Path) -> str:
    """What `dgd choice fit` shows to a person; the model is beside the sales."""
    columns = ["--attributes", "quality", "--market-size", PEOPLE]
    model = ["--population", "point", "--seeds", "1", "--output", sales.parent / "model.dgd"]
    return done("choice", "fit", sales, *columns, *model).stdout


@pytest.fixture(scope="module")
def model(sales: Path, fitted: str) -> Path:
    assert "wrote" in fitted
    return sales.parent / "model.dgd"


def test_a_fit_shows_what_was_decided_and_its_coefficients(fitted: str) -> None:
    assert "people: everyone is alike" in fitted
    assert CONVERGENCE in fitted
    assert "standard error" in fitted
    assert "Types of choosers" not in fitted


def test_info_has_the_line_of_convergence(model: Path) -> None:
    shown = done("info", model).stdout
    assert CONVERGENCE in shown
    assert "Coefficients" in shown
    assert "Types of choosers" not in shown


def test_a_fit_is_told_as_json(sales: Path) -> None:
    columns = ["--attributes", "quality", "--market-size", PEOPLE, "--population", "point"]
    output = ["--seeds", "1", "--output", sales.parent / "again.dgd", "--json"]
    told = json.loads(done("choice", "fit", sales, *columns, *output).stdout)
    assert "segments" not in told, "nobody differs"
    assert any(one.startswith(CONVERGENCE) for one in told["said"])
    assert [row["people"] for row in told["people"]] == ["alike"]
    found = {row["coefficient"]: row for row in told["coefficients"]}
    assert found["price sensitivity"]["estimate"] == pytest.approx(SENSITIVITY, rel=1e-3)


def test_the_shell_checks_a_model_of_demand(model: Path, tmp_path: Path) -> None:
    told = done("check", model, "--charts", tmp_path)
    found = check_choice(dgd.load(model))
    words = " ".join(told.stdout.split())
    assert found.verdict in words
    assert "t-value of price sensitivity" in words
    assert "Read with care" in words
    assert "prices are taken as given" in found.warnings["warning"].to_list()
    for name in ("elasticities", "sensitivity"):
        for kind in ("html", "png", "svg"):
            assert f"wrote {tmp_path / name}.{kind}" in told.stdout
            assert (tmp_path / f"{name}.{kind}").stat().st_size > 5_000


def test_every_table_is_shown_when_asked_for(model: Path) -> None:
    shown = done("check", model, "--full").stdout
    for title in check_choice(dgd.load(model)).tables:
        assert title in shown


def test_a_checkup_of_demand_is_told_as_json(model: Path) -> None:
    machine = json.loads(done("check", model, "--json").stdout)
    found = check_choice(dgd.load(model))
    assert machine.pop("charts") == []
    assert machine["holds"] == found.holds
    assert machine["verdict"] == found.verdict
    assert set(machine["tables"]) == set(found.tables)
