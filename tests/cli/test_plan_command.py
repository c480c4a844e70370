"""The shell's plans: a model, a budget and what is wanted in, the best spread of effort out."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dgd
from support.shell import assert_refused, done, run
from support.shop import Shop, read
from support.small_counts import panel_of
from support.untrained import untrained

TERMS = ["--budget", 12, "--objective", "share=1,arrivals=0.1", "--horizon", 2]
QUICK = ["--starts", 2, "--after", 0]


@pytest.fixture
def shop(shops: Callable[[str], Shop]) -> Shop:
    return shops("csv")


@pytest.fixture
def ask(shop: Shop) -> list[object]:
    return ["plan", shop.model, *TERMS, *QUICK]


@pytest.fixture
def no_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    import dgd.scenarios.planning

    def reached(*_: object) -> None:
        pytest.fail("work began before the refusal")

    monkeypatch.setattr(dgd.scenarios.planning, "worth_of", reached)
    monkeypatch.setattr(dgd.scenarios.planning.Expecting, "of", reached)


@pytest.fixture
def no_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    import dgd.storage

    monkeypatch.setattr(dgd.storage, "load", lambda *_: pytest.fail("the model was loaded first"))


def table(folder: Path, text: str) -> Path:
    file = folder / "table.csv"
    file.write_text(text)
    return file


@pytest.mark.slow
def test_the_plan_and_what_it_rests_on_are_printed(ask: list[object]) -> None:
    result = done(*ask)
    for words in (
        "Effort as planned, as it is now, and spread evenly",
        "What it brings",
        "planned is ahead, %",
        "What to vary next",
        "Starts of the solver",
        "note: effort of a cell is at most 2 times",
    ):
        assert words in result.stdout
    assert "rest" in result.stdout
    assert result.stderr == ""


def test_everything_is_told_as_json_and_written(ask: list[object], tmp_path: Path) -> None:
    output, charts = tmp_path / "plan.csv", tmp_path / "charts"
    result = done(*ask, "--output", output, "--charts", charts, "--json")
    told = json.loads(result.stdout)
    assert {"rows", "summary", "starts", "rest", "learn_next", "notes", "warnings"} <= set(told)
    assert told["objective"] == {"arrivals": 0.1, "click": 0.0, "like": 0.0, "share": 1.0}
    spent = sum(row["effort"] for row in told["rows"])
    assert spent <= 12 * (1 + 1e-6)
    best, *others = [row["objective"] for row in told["summary"]]
    assert best >= others[0]
    assert read(output)["effort"].sum() == pytest.approx(spent)
    assert told["charts"] == [str(charts / f"plan.{kind}") for kind in ("html", "png", "svg")]
    assert (charts / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_terms_reach_the_library(
    ask: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    def record(_: dgd.Fit, **options: object) -> None:
        given.update(options)
        raise dgd.InputError("only asked.")

    monkeypatch.setattr(dgd.Fit, "plan", record)
    fixed = table(tmp_path, "from,to,unit,cohort\n2022-02-12,,north,\n,,,casual\n")
    more = ["--bounds", "0:3", "--per-day", "8", "--per-unit", "north=4, south=9", "--seed", 5]
    run(*ask, *more, "--fixed", fixed, "--quantile", 0.2, "--origin", "2022-02-08")
    assert given.pop("fixed").columns == ["from", "to", "unit", "cohort"]
    assert given == {
        "budget": 12.0,
        "objective": {"share": 1.0, "arrivals": 0.1},
        "horizon": 2,
        "bounds": (0.0, 3.0),
        "per_day": 8.0,
        "per_unit": {"north": 4.0, "south": 9.0},
        "quantile": 0.2,
        "after": 0,
        "starts": 2,
        "seed": 5,
        "origin": "2022-02-08",
        "effort": None,
        "features": None,
    }


@pytest.mark.usefixtures("no_loading")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--budget", "0"], ["budget is 0.0", "above 0"]),
        (["--budget", "nan"], ["budget is nan"]),
        (["--objective", ""], ["objective names no behaviour", "buy=1"]),
        (["--objective", "=1"], ['"=1"', "names nothing"]),
        (["--objective", "share=much"], ['"much"', "not a number"]),
        (["--objective", "share=1,share=2"], ['"share" twice']),
        (["--objective", "share=0"], ["by 0"]),
        (["--bounds", "3"], ['bounds "3"', "0:3"]),
        (["--bounds", "3:1"], ['bounds "3:1"', "least"]),
        (["--bounds", "absent.csv"], ["absent.csv", "does not exist"]),
        (["--per-day", "-1"], ["holds -1", "0 or more"]),
        (["--per-unit", "north"], ['"north"', "not a number"]),
        (["--fixed", "absent.csv"], ["absent.csv", "does not exist"]),
        (["--quantile", "2"], ["quantile is 2.0", "between 0 and 1"]),
        (["--seed", "-1"], ["seed -1"]),
        (["--output", "plan.xlsx"], ["neither .csv nor .parquet"]),
    ],
)
def test_what_needs_no_model_is_refused_before_it_is_loaded(
    ask: list[object], options: list[str], words: list[str]
) -> None:
    assert_refused(run(*ask, *options), *words)


@pytest.mark.usefixtures("no_planning")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--objective", "buy=1"], ['"buy"', "choose among arrivals, click"]),
        (["--bounds", "2:3"], ["budget is 12", "lower bounds", "24"]),
        (["--per-unit", "west=3"], ['unit "west"', "north, south"]),
        (["--per-day", "2022-03-30=1"], ["2022-03-30", "choose one of these"]),
        (["--horizon", "0"], ["horizon is 0", "at least one day"]),
        (["--starts", "0"], ["starts is 0"]),
    ],
)
def test_terms_that_the_fit_cannot_keep_are_refused_before_any_work(
    ask: list[object], options: list[str], words: list[str]
) -> None:
    assert_refused(run(*ask, *options), *words)


@pytest.mark.usefixtures("no_planning")
@pytest.mark.parametrize(
    ("option", "rows", "words"),
    [
        ("--fixed", "unit\nwest\n", ['unit "west"', "north, south"]),
        ("--fixed", "unit,who\nnorth,me\n", ['column "who"', "rename it"]),
        ("--fixed", "date,from\n2022-02-12,\n", ["date beside from"]),
        ("--bounds", "low,high\n-1,3\n", ["-1 to 3", "0 or more"]),
        ("--bounds", "low\n1\n", ['no column "high"']),
        ("--effort", "date,effort\n2022-02-12,-3\n", ["effort row 1", "-3"]),
    ],
)
def test_tables_that_the_fit_cannot_keep_are_refused_before_any_work(
    ask: list[object], tmp_path: Path, option: str, rows: str, words: list[str]
) -> None:
    assert_refused(run(*ask, option, table(tmp_path, rows)), *words)


@pytest.mark.usefixtures("no_planning")
def test_a_model_without_effort_plans_nothing(tmp_path: Path) -> None:
    model = tmp_path / "model.dgd"
    untrained(dgd.DGD(nodes=3), panel_of(40), seeds=(1,)).save(model)
    call = ["plan", model, "--budget", 10, "--objective", "like=1", "--horizon", 2]
    assert_refused(run(*call), "a plan needs effort", "fit again")


def test_tables_are_never_replaced(ask: list[object], tmp_path: Path) -> None:
    bounds = table(tmp_path, "low,high\n0,3\n")
    assert_refused(run(*ask, "--bounds", bounds, "--output", bounds), "is the input")
    assert bounds.read_text() == "low,high\n0,3\n"
