"""No command writes over what it reads, and nothing that is said twice is taken once."""

from pathlib import Path

import polars as pl
import pytest

from support.shell import assert_refused, run
from support.shop import BEHAVIORS, ENDS, Shop

pytestmark = pytest.mark.usefixtures("no_training")


def test_count_never_destroys_its_log(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    pl.DataFrame({"ts": ["2022-04-01"], "click": [1]}).write_csv(log)
    before = log.read_bytes()
    options = ["--time", "ts", "--behaviors", "click", "--output", log]
    assert_refused(run("count", log, *options), "is the input", "name another file")
    assert log.read_bytes() == before


@pytest.mark.parametrize("name", ["counts", "sizes", "effort"])
def test_fit_never_destroys_its_tables(csv_shop: Shop, name: str) -> None:
    table = csv_shop.table(name)
    before = table.read_bytes()
    assert_refused(run(*csv_shop.fit("--output", table)), "is the input")
    assert table.read_bytes() == before


def test_backtest_never_destroys_its_table_or_its_own_result(
    csv_shop: Shop, tmp_path: Path
) -> None:
    counts, scores = csv_shop.table("counts"), tmp_path / "scores.csv"
    before = counts.read_bytes()
    call = ["backtest", counts, "--behaviors", BEHAVIORS, *ENDS]
    assert_refused(run(*call, "--output", counts), "is the input")
    assert counts.read_bytes() == before
    scores.touch()
    assert_refused(run(*call, "--output", scores, "--daily", scores), "is the input")


def test_forecast_never_destroys_its_model(tmp_path: Path) -> None:
    model = tmp_path / "model.csv"
    model.write_text("a model")
    assert_refused(run("forecast", model, "--output", model), "is the input")
    assert model.read_text() == "a model"


@pytest.mark.parametrize(
    "options",
    [
        ["--epochs", 5, "--set", "epochs=-3"],
        ["--set", "epochs=5", "--set", "epochs=6"],
        ["--components", 2, "--set", "components=3"],
    ],
)
def test_a_setting_given_twice_is_refused(csv_shop: Shop, options: list[object]) -> None:
    assert_refused(run(*csv_shop.fit(*options)), "is given twice", "give one")


def test_settings_are_bounded_by_what_they_cost(csv_shop: Shop) -> None:
    refused = run(*csv_shop.fit("--components", 99999999))
    assert_refused(refused, "components is 99999999", "from 1 to 64")


def test_a_folder_is_not_a_table(tmp_path: Path) -> None:
    call = ["fit", tmp_path, "--behaviors", "click", *ENDS]
    assert_refused(run(*call), "has no manifest.json", "count again")


def test_a_folder_is_not_a_model(tmp_path: Path) -> None:
    assert_refused(run("forecast", tmp_path), "is not a file", "check the path")
