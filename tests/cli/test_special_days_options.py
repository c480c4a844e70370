"""Special days in the shell: of the table that is fitted, and of the days ahead."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dgd
from support.shell import assert_refused, done, run
from support.shop import BEHAVIORS, Shop


@pytest.fixture
def special(tmp_path: Path) -> Path:
    file = tmp_path / "special.csv"
    file.write_text("date,name\n2022-01-12,sale\n2022-03-01,fair\n", "utf-8")
    return file


def explored(source: Path, *options: object) -> dict[str, Any]:
    told = done("explore", source, "--behaviors", BEHAVIORS, *options, "--json")
    facts: dict[str, Any] = json.loads(told.stdout)["facts"]
    return facts


def test_a_table_and_a_data_set_take_them(csv_shop: Shop, special: Path, tmp_path: Path) -> None:
    table = csv_shop.table("counts")
    options = ["--country", "GB", "--special", special]
    facts = explored(table, *options)
    assert facts["public holidays (GB)"] == 1
    assert facts["other special days"] == 1
    parts = tmp_path / "set"
    counts = dgd.Panel.from_counts(
        pl.read_csv(table), behaviors=BEHAVIORS.split(","), duplicates="refuse"
    ).to_frame()
    dgd.partition_counts(counts, parts, behaviors=BEHAVIORS.split(","), partitions=2)
    assert explored(parts, *options) == facts


def test_a_fit_keeps_them(csv_shop: Shop, special: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def record(_: dgd.DGD, panel: dgd.Panel, **__: Any) -> None:
        asked.append(panel.special_days)
        raise dgd.InputError("only asked.")

    monkeypatch.setattr(dgd.DGD, "fit", record)
    run(*csv_shop.fit("--country", "GB-ENG", "--special", special))
    (days,) = asked
    assert days.country == "GB-ENG"
    assert days.kinds[2:] == ("sale", "fair")


def test_days_ahead_may_be_named_later(
    shops: Callable[[str], Shop], special: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def record(fit: dgd.Fit, *_: Any, **__: Any) -> None:
        asked.append(fit.panel.special_days)
        raise dgd.InputError("only asked.")

    monkeypatch.setattr(dgd.Fit, "forecast", record)
    shop = shops("csv")
    run("forecast", shop.model, "--horizon", 2, "--special", special)
    newer = ["--counts", shop.table("counts"), "--effort", shop.table("effort")]
    run("forecast", shop.model, "--horizon", 2, "--special", special, *newer)
    assert [days.kinds[2:] for days in asked] == [("sale", "fair")] * 2


def test_unknown_countries_and_columns_are_refused(
    csv_shop: Shop, special: Path, tmp_path: Path
) -> None:
    call = ["explore", csv_shop.table("counts"), "--behaviors", BEHAVIORS]
    assert_refused(run(*call, "--country", "GX"), 'country "GX" is not known')
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(special.read_text("utf-8").replace("name", "nmae"), "utf-8")
    assert_refused(run(*call, "--special", wrong), 'the nearest known one is "name"')


def test_a_result_does_not_replace_the_table(csv_shop: Shop, special: Path) -> None:
    before = special.read_bytes()
    told = run(*csv_shop.fit("--special", special, "--output", special))
    assert told.exit_code != 0
    assert special.read_bytes() == before
