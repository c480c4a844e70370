"""Tables at 60, 80 and 120 columns: nothing is cut, no number is broken, nothing is lost unsaid."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest
from rich.cells import cell_len

import dgd
from dgd.cli import console
from support.random_choice import make, offers_table, random_fit
from support.relabelled import relabelled
from support.shell import done
from support.untrained import untrained

WIDTHS = (60, 80, 120)
LONG = ["the quick and the restless", "customers_of_the_last_quarter", "日本のお客様"]
BEHAVIORS = ["opened the newsletter", "unsubscribed", "clicked_on_a_recommendation"]


def shown(table: pl.DataFrame, width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(console.out, "width", width)
    with console.out.capture() as screen:
        console.show("A title", table)
    return screen.get()


def expect_fit(text: str, width: int) -> None:
    for line in text.splitlines():
        assert cell_len(line.rstrip()) <= width, line


def forecast_table(series: int = 3) -> pl.DataFrame:
    numbers = {
        f"{BEHAVIORS[at]}{end}": [1234.5678 + at, 0.00012 * (at + 1), -98765.4321 - at]
        for at in range(series)
        for end in ("", "_low_80", "_high_80")
    }
    keys = {"date": [date(2022, 4, 18)] * 3, "horizon": [1] * 3, "cohort": LONG}
    return pl.DataFrame({**keys, **numbers})


@pytest.mark.parametrize("width", WIDTHS)
def test_numbers_and_dates_stay_whole_and_lines_are_not_cut(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(forecast_table(1), width, monkeypatch)
    expect_fit(text, width)
    words = text.replace("│", " ").split()
    for number in ("1,234.57", "0.00012", "-98,765.43"):
        assert words.count(number) == 3, "one for each of the three columns"
    parts = text.count("A title")
    assert words.count("2022-04-18") == 3 * parts, "every part says of which day its rows are"


@pytest.mark.parametrize("width", WIDTHS)
def test_labels_and_headings_are_all_there(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(forecast_table(1), width, monkeypatch)
    letters = "".join(text.replace("┃", " ").replace("│", " ").split())
    for label in ("customers", "quarter", "restless", "日本"):
        assert label in letters
    if width == 120:
        for label in LONG:
            assert label in text, "there is room for it in one line"


def test_a_table_that_fits_stays_one_and_keeps_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pl.DataFrame({"series": ["arrivals"], "expected": [310.5], "low_80": [284.0]})
    text = shown(table, 60, monkeypatch)
    assert "┃ series   ┃ expected ┃ low_80 ┃" in text.replace("  ┃ low", " ┃ low")
    assert "of 2" not in text


def test_headings_wrap_before_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pl.DataFrame(
        {"seed": [1], "the best validation objective": [0.5], "how many epochs were run": [61]}
    )
    text = shown(table, 60, monkeypatch)
    assert text.count("A title") == 1
    assert "┏" in text


@pytest.mark.parametrize("width", WIDTHS)
def test_columns_that_find_no_room_are_named(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pl.DataFrame({"cohort": LONG, **{f"measure {n}": [1234.5] * 3 for n in range(60)}})
    text = shown(table, width, monkeypatch)
    expect_fit(text, width)
    assert text.count("A title") == 3
    last = " ".join(text.rpartition("no room here for ")[2].split())
    assert last.endswith("--json has everything")
    first = last.split(",")[0]
    assert int(first.removeprefix("measure ")) == text.count("1,234.50") // 3


def test_rows_that_are_left_out_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pl.concat([forecast_table()] * 20)
    text = shown(table, 60, monkeypatch)
    assert text.count("... and 36 more rows") == 1


def test_labels_that_are_numbers_are_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units called 1 and 2 are repeated in every part, as other units are."""
    keys = {"unit": ["1", "2"], "series": ["arrivals", "arrivals"]}
    figures = {f"{word} of the whole": ["1,234", "5,678"] for word in ("total", "sum", "rest")}
    text = shown(
        pl.DataFrame({**keys, **figures, "ranges": ["1,111 to 22,222"] * 2}), 40, monkeypatch
    )
    assert text.count("A title") > 1
    assert text.count("series") == text.count("unit") == text.count("A title")


@pytest.fixture(scope="module")
def model(drawn: dgd.Simulated, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("wide") / "model.dgd"
    untrained(dgd.DGD(), relabelled(drawn, LONG, BEHAVIORS)).save(file)
    return file


@pytest.mark.parametrize("width", WIDTHS)
def test_every_command_keeps_to_the_width(
    model: Path, width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console.out, "width", width)
    changes = tmp_path / "changes.csv"
    changes.write_text("what,how,value\nsize,multiply,2\n")
    random_fit(make(offers_table())).save(tmp_path / "choice.dgd")
    ahead = ["--horizon", 1, "--levels", ""]
    for call in (
        ["info", model],
        ["forecast", model, "--horizon", 2],
        ["forecast", model, "--horizon", 1, "--patterns"],
        ["forecast", model, "--horizon", 2, "--by", "date,cohort,behavior"],
        ["scenario", model, "--change", changes, *ahead, "--by", "unit,cohort"],
        ["choice", "predict", tmp_path / "choice.dgd", "--set-price", "a=2.5"],
        ["choice", "elasticities", tmp_path / "choice.dgd"],
        ["info", tmp_path / "choice.dgd"],
    ):
        tables = [
            line
            for line in done(*call).stdout.splitlines()
            if not line.startswith(("note:", "warning:"))
        ]
        expect_fit("\n".join(tables), width)
