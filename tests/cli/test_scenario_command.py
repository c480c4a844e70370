"""The shell's scenarios: a model and a table of changes in, what they do and why out."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import dgd
from support.shell import assert_refused, done, run
from support.shop import Shop, read
from support.small_counts import panel_of
from support.untrained import untrained

CHANGES = "what,how,value,from,to,unit,cohort\neffort,multiply,1.5,2022-02-12,2022-02-13,,casual\n"


@pytest.fixture
def shop(shops: Callable[[str], Shop]) -> Shop:
    return shops("csv")


@pytest.fixture
def changes(tmp_path: Path) -> Path:
    return written(tmp_path, CHANGES)


@pytest.fixture
def ask(shop: Shop, changes: Path) -> list[object]:
    """Expected numbers alone, which are cheap."""
    return ["scenario", shop.model, "--change", changes, "--horizon", 3, "--levels", ""]


@pytest.fixture
def no_comparing(monkeypatch: pytest.MonkeyPatch) -> None:
    import dgd.scenarios.comparing

    def reached(*_: object) -> None:
        pytest.fail("work began before the refusal")

    monkeypatch.setattr(dgd.scenarios.comparing, "compared", reached)


@pytest.fixture
def no_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    import dgd.storage

    monkeypatch.setattr(dgd.storage, "load", lambda *_: pytest.fail("the model was loaded first"))


def written(folder: Path, text: str) -> Path:
    file = folder / "changes.csv"
    file.write_text(text)
    return file


def test_totals_causes_and_notes_are_printed(ask: list[object]) -> None:
    result = done(*ask)
    for words in (
        "Totals of 2022-02-12 to 2022-02-14",
        "arrivals",
        "planned",
        "changed",
        "The difference and its causes",
        "other answers",
        "note: effort from 2022-02-12 on is not known; that of the same weekday",
    ):
        assert words in result.stdout
    assert result.stderr == ""


def test_everything_is_told_as_json(shop: Shop, changes: Path) -> None:
    call = ["scenario", shop.model, "--change", changes, "--horizon", 3, "--paths", 40]
    result = done(*call, "--levels", "80", "--by", "cohort", "--json")
    told = json.loads(result.stdout)
    keys = {"origin", "horizon", "rows", "totals", "split", "notes", "warnings", "charts"}
    assert set(told) == keys
    assert told["origin"] == "2022-02-11"
    assert len(told["rows"]) == 3 * 4
    assert len(told["totals"]) == 3 * 4
    assert told["rows"][0]["changed_low_80"] <= told["rows"][0]["changed_high_80"]
    first = {row["cohort"]: row["difference"] for row in told["totals"][::4]}
    assert first["casual"] > 0
    for row in told["split"]:
        causes = [value for name, value in row.items() if name not in ("series", "difference")]
        assert sum(causes) == pytest.approx(row["difference"])


def test_the_shell_says_what_the_library_says(shop: Shop, ask: list[object]) -> None:
    change = dgd.Change("effort", "multiply", 1.5, ("2022-02-12", "2022-02-13"), None, "casual")
    found = dgd.load(shop.model).scenario(change, 3, paths=0)
    told = json.loads(done(*ask, "--json").stdout)
    assert told["totals"] == json.loads(json.dumps(found.payload()["totals"]))


def test_the_days_or_the_totals_are_written(ask: list[object], tmp_path: Path) -> None:
    output = tmp_path / "days.csv"
    assert f"wrote {output}" in done(*ask, "--output", output).stdout
    assert read(output).columns == ["date", "series", "baseline", "changed", "difference"]
    done(*ask, "--by", "unit,cohort", "--output", output)
    assert read(output).columns[:3] == ["unit", "cohort", "series"]
    assert read(output).height == 2 * 3 * 4


def test_charts_are_written(ask: list[object], tmp_path: Path) -> None:
    told = json.loads(done(*ask, "--charts", tmp_path / "charts", "--json").stdout)
    files = [tmp_path / "charts" / f"scenario.{kind}" for kind in ("html", "png", "svg")]
    assert told["charts"] == [str(file) for file in files]
    assert files[1].read_bytes().startswith(b"\x89PNG")


def test_effort_of_days_ahead_is_the_plan(ask: list[object], tmp_path: Path) -> None:
    days = pl.date_range(pl.date(2022, 2, 12), pl.date(2022, 2, 14), eager=True).alias("date")
    file = tmp_path / "effort.csv"
    pl.DataFrame([days, pl.Series("effort", [2.0] * 3)]).write_csv(file)
    told = json.loads(done(*ask, "--effort", file, "--json").stdout)
    assert told["notes"] == []
    assert told["totals"][0]["difference"] > 0


@pytest.mark.usefixtures("no_loading")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--levels", "high"], ['"high"', "whole numbers"]),
        (["--levels", "0"], ["levels holds 0", "per cent from 1"]),
        (["--paths", "-1"], ["paths is -1", "draw from 1"]),
        (["--seed", "-1"], ["seed -1", "choose another"]),
        (["--output", "answer.xlsx"], ["neither .csv nor .parquet"]),
        (["--change", "absent.csv"], ["absent.csv", "does not exist"]),
        (["--effort", "absent.csv"], ["absent.csv", "does not exist"]),
    ],
)
def test_what_needs_no_model_is_refused_before_it_is_loaded(
    ask: list[object], options: list[str], words: list[str]
) -> None:
    assert_refused(run(*ask, *options), *words)


@pytest.mark.usefixtures("no_loading")
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("what,how\neffort,set\n", ['no column "value"']),
        ("what,how,value\n", ["changes has no rows", "at least one"]),
        ("what,how,value\neffort,set,much\n", ["changes row 1, column value", '"much"']),
        ("what,how,value\neffort,set,1\neffort,double,2\n", ["changes row 2", '"double"']),
    ],
)
def test_changes_that_no_model_could_make_are_refused_before_it_is_loaded(
    shop: Shop, tmp_path: Path, rows: str, words: list[str]
) -> None:
    call = ["scenario", shop.model, "--change", written(tmp_path, rows), "--horizon", 3]
    assert_refused(run(*call), *words)


@pytest.mark.usefixtures("no_comparing")
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("what,how,value,unit\neffort,set,1,west\n", ['unit "west"', "north, south"]),
        ("what,how,value,cohort\neffort,set,1,young\n", ['cohort "young"', "casual"]),
        ("what,how,value,date\neffort,set,1,2022-03-30\n", ["2022-03-30", "longer horizon"]),
        ("what,how,value\neffort,shift,-50\n", ["makes effort -", "unit north"]),
        ("what,how,value\nprice,set,2\n", ['"price"', "effort, size"]),
        ("what,how,value,who\neffort,set,1,me\n", ['column "who"', "rename it"]),
    ],
)
def test_changes_of_what_the_fit_does_not_have_are_refused_before_any_work(
    shop: Shop, tmp_path: Path, rows: str, words: list[str]
) -> None:
    call = ["scenario", shop.model, "--change", written(tmp_path, rows), "--horizon", 3]
    assert_refused(run(*call), *words)


@pytest.mark.usefixtures("no_comparing")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--horizon", "0"], ["horizon is 0", "at least one day"]),
        (["--by", "date"], ['by names "date"', "by unit, by cohort or by both"]),
        (["--origin", "2023-01-01"], ["origin 2023-01-01", "choose one in that range"]),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_before_any_work(
    ask: list[object], options: list[str], words: list[str]
) -> None:
    assert_refused(run(*ask, *options), *words)


@pytest.mark.usefixtures("no_comparing")
def test_a_model_without_effort_refuses_a_change_of_it(tmp_path: Path) -> None:
    model = tmp_path / "model.dgd"
    untrained(dgd.DGD(nodes=3), panel_of(40), seeds=(1,)).save(model)
    changes = written(tmp_path, "what,how,value\neffort,multiply,2\n")
    call = ["scenario", model, "--change", changes, "--horizon", 3]
    assert_refused(run(*call), "made without effort", "fit again")


def test_the_changes_are_never_replaced(ask: list[object], changes: Path) -> None:
    before = changes.read_bytes()
    assert_refused(run(*ask, "--output", changes), "is the input", "name another file")
    assert changes.read_bytes() == before
