"""Labels, paths and messages reach the terminal as plain text; JSON and tables keep them."""

import json
import warnings
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import Result

import dgd
from dgd.cli import console
from dgd.cli.console import PlainConsole, plain
from support.random_choice import make, offers_table, random_fit
from support.relabelled import relabelled
from support.shell import assert_refused, done, run
from support.untrained import untrained

COHORTS = ["[/b]", "[north]", "\x1b[31mred\x1b[0m\rover"]
BEHAVIORS = ["like\n\u202ekil", "[bold]click", "bell\x07:smile:"]
SHOWN_COHORTS = ["[/b]", "[north]", "red over"]
SHOWN_BEHAVIORS = ["like kil", "[bold]click", "bell:smile:"]
OBEYED = set(map(chr, [*range(0x0A), *range(0x0B, 0x20), *range(0x7F, 0xA0)])) | set(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
"""What a terminal would act on, but for the end of a line."""


@pytest.fixture(scope="module")
def model(drawn: dgd.Simulated, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file whose cohorts and behaviours have the labels above."""
    file = tmp_path_factory.mktemp("labels") / "[red]\x1b[31m.dgd"
    untrained(dgd.DGD(), relabelled(drawn, COHORTS, BEHAVIORS)).save(file)
    return file


def assert_plain(result: Result, *labels: str) -> None:
    shown = result.stdout + result.stderr
    assert not OBEYED & set(shown)
    for label in labels:
        assert label in shown


def test_a_forecast_shows_labels_as_they_are_written(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console.out, "width", 200)
    result = done("forecast", model, "--horizon", 1)
    assert_plain(result, *SHOWN_COHORTS, *SHOWN_BEHAVIORS)
    rows = [line for line in result.stdout.splitlines() if "2022-02-12" in line]
    assert len(rows) == 2 * 3, "a row of the table is one line"


def test_a_scenario_shows_labels_as_they_are_written(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console.out, "width", 200)
    changes = tmp_path / "changes.csv"
    changes.write_text("what,how,value\nsize,multiply,2\n")
    call = ["scenario", model, "--change", changes, "--horizon", 1, "--levels", ""]
    assert_plain(done(*call, "--by", "cohort"), *SHOWN_COHORTS, *SHOWN_BEHAVIORS)


def test_long_work_is_told_at_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal, quiet, told in ((True, False, True), (True, True, False), (False, False, False)):
        shown = StringIO()
        monkeypatch.setattr(console, "err", PlainConsole(file=shown, force_terminal=terminal))
        with console.working("comparing [both] futures", quiet):
            pass
        assert ("comparing [both] futures" in shown.getvalue()) == told


def test_a_written_forecast_is_told_plainly_and_keeps_its_labels(
    model: Path, tmp_path: Path
) -> None:
    output = tmp_path / "[red]out\x1b]0;title\x07.csv"
    assert_plain(done("forecast", model, "--horizon", 1, "--output", output), "wrote", "[red]out")
    table = pl.read_csv(output.read_bytes())
    assert set(table["cohort"]) == set(COHORTS)
    assert set(BEHAVIORS) <= set(table.columns)


def test_json_keeps_labels(model: Path) -> None:
    answer = json.loads(done("forecast", model, "--horizon", 1, "--json").stdout)
    assert {row["cohort"] for row in answer["rows"]} == set(COHORTS)
    assert set(BEHAVIORS) <= set(answer["rows"][0])
    assert set(json.loads(done("info", model, "--json").stdout)["cohorts"]) == set(COHORTS)


def test_info_is_plain(model: Path) -> None:
    assert_plain(done("info", model), *SHOWN_COHORTS)


def test_predicted_demand_is_plain(tmp_path: Path) -> None:
    table = offers_table().with_columns(
        pl.col("market").replace({"north": "[/north]"}),
        pl.col("product").replace({"a": "\x1b[2Ja[/]", "b": "b\n\u2067"}),
    )
    columns = {"product": "[/product]", "market": "market\x9b2J"}
    random_fit(make(table.rename(columns), **columns)).save(tmp_path / "model.dgd")
    result = done("choice", "predict", tmp_path / "model.dgd")
    assert_plain(result, "[/product]", "[/north]", " a[/] ")
    assert_plain(done("choice", "elasticities", tmp_path / "model.dgd"), "[/product]", " a[/] ")


def test_a_refusal_is_one_plain_sentence(model: Path, tmp_path: Path) -> None:
    absent = tmp_path / "a\nb\r\x1b[2Jc[/b]\u202e.dgd"
    result = run("info", absent)
    assert_refused(result, r"a\nb\r\x1b[2Jc[/b]\u202e.dgd", "does not exist")
    assert_plain(result)
    assert_refused(run("forecast", model, "--origin", "[/b]\x1b[31m\n"), "[/b]")


def test_a_refused_value_of_a_table_is_plain(tmp_path: Path) -> None:
    column = "cl[/b]\x1b[5mick\nly"
    table = {"date": ["2022-01-03"], "unit": ["u"], "cohort": ["c"], column: [7], "count": [1]}
    pl.DataFrame(table).write_csv(tmp_path / "counts.csv")
    ends = ["--train-end", "2022-01-03", "--validation-end", "2022-01-03"]
    result = run("fit", tmp_path / "counts.csv", "--behaviors", column, *ends)
    assert_refused(result, r"cl[/b]\x1b[5mick\nly")
    assert_plain(result)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """What a coloured terminal of 60 columns would be sent."""
    screen = StringIO()
    options: dict[str, Any] = {"file": screen, "force_terminal": True, "width": 60}
    monkeypatch.setattr(console, "out", PlainConsole(**options))
    monkeypatch.setattr(console, "err", PlainConsole(**options))
    return screen


def test_warnings_are_one_plain_line_each(terminal: StringIO) -> None:
    with console.warnings_in_a_line():
        warnings.warn("product [/b]\x1b[31m\nis odd", UserWarning, stacklevel=1)
    assert terminal.getvalue() == "warning: product [/b] is odd\n"


def test_titles_and_headers_are_plain_in_colour_too(terminal: StringIO) -> None:
    console.show("[/t]\x1b]8\x07", pl.DataFrame({"[/head]\r": ["[/cell]\x1b[8m"]}))
    shown = terminal.getvalue()
    for word in ("[/t]]8", "[/head]", "[/cell]"):
        assert word in shown
    assert "\x1b]" not in shown
    assert "\x1b[8m" not in shown
    assert "\r" not in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 日本 👩‍👩‍👧", "plain é 日本 👩‍👩‍👧"),
        ("[b]bold[/b] :smile: \\[", "[b]bold[/b] :smile: \\["),
        ("\x1b[1;31mred\x1b[0m \x9b2Jclear", "red clear"),
        ("two\r\nlines\u2028three\ttabs", "two lines three tabs"),
        ("\x1b]0;unfinished and the rest", "]0;unfinished and the rest"),
        ("a\x00b\x7fc\x85d\u202ee\u2066f\ufeffg", "abc defg"),
        ("file\udcff", "file\ufffd"),
    ],
)
def test_plain_text(text: str, shown: str) -> None:
    assert plain(text).plain == shown
    assert not plain(text).spans
