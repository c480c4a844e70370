"""Options of the shell reach the library as they were given."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dgd
from support.shell import run
from support.shop import ENDS, Shop, read


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dgd.DGD, dgd.Panel, dict[str, Any]]]:
    """What the shell asks of the library, without the training."""
    calls = []

    def record(model: dgd.DGD, panel: dgd.Panel, **options: Any) -> None:
        calls.append((model, panel, options))
        raise dgd.InputError("only asked.")

    monkeypatch.setattr(dgd.DGD, "fit", record)
    return calls


def test_options_reach_the_library(csv_shop: Shop, asked: list[Any]) -> None:
    options = ["--components", 3, "--nodes", 5, "--epochs", 9, "--seeds", "4, 5"]
    run(*csv_shop.fit(*options, "--warmup-end", "2022-01-09"))
    ((model, panel, given),) = asked
    assert (model.components, model.nodes, model.epochs) == (3, 5, 9)
    assert given["seeds"] == [4, 5]
    assert given["warmup_end"] == "2022-01-09"
    assert given["train_end"] == "2022-01-30"
    assert panel.sized
    assert panel.has_effort


def test_columns_may_be_named_or_absent(csv_shop: Shop, tmp_path: Path, asked: list[Any]) -> None:
    table = read(csv_shop.table("counts")).group_by("date", "click").agg(n=pl.col("count").sum())
    table.rename({"date": "when"}).write_csv(tmp_path / "own.csv")
    columns = ["--date", "when", "--unit", "none", "--cohort", "none", "--count", "n"]
    run("fit", tmp_path / "own.csv", "--behaviors", "click", *columns, *ENDS)
    ((_, panel, _),) = asked
    assert panel.units == panel.cohorts == ("all",)
    assert panel.arrivals.sum() == table["n"].sum()


def test_the_paper_preset_is_the_librarys(csv_shop: Shop, asked: list[Any]) -> None:
    run(*csv_shop.fit("--preset", "paper"))
    assert asked[0][0] == dgd.DGD.paper()
