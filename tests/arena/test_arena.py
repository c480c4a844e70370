"""The arena as it is called: windows that are there, words for those that are not, files."""

import json
import runpy
import sys
from pathlib import Path

import polars as pl
import pytest

import dgd
from dgd.arena import arena, totals_alone, windows
from dgd.arena import page as pages
from dgd.arena.contest import ROW, Contest
from dgd.arena.page import TITLE
from dgd.arena.windows import FIRST_SHEET, LOADERS, windows_in
from support.real_data import real_data
from support.shell import assert_refused, done, run

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "accuracy.py"


@pytest.fixture
def small(rows, dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """One window that is there, its contest already held, and one whose files are missing."""

    def missing(folder: Path) -> None:
        raise dgd.InputError(f"flights.parquet is not in {folder}; get it.")

    monkeypatch.setattr(windows, "LOADERS", {"small": lambda _: dataset, "absent": missing})
    monkeypatch.setattr(Contest, "rows", lambda _: rows)
    monkeypatch.setattr(totals_alone, "installed", lambda: False)


def test_windows_are_named_as_their_data_sets_name_them() -> None:
    assert list(LOADERS) == [
        "Retail 2010", "Retail 2011", "Retail May 2010", "Retail July 2010",
        "Retail September 2010", "Retail November 2010", "Retail short May 2010",
        "Retail short September 2010", "Flights winter", "Flights autumn", "Flights short March",
        "Flights short October", "Hotels 2016", "Hotels 2017", "Hotels short 2016",
        "Hotels short 2017", "Complete Journey", "Stops autumn", "Stops short March", "Bakery",
        "KuaiRand late",
    ]  # fmt: skip


def test_a_window_without_files_is_left_out_with_a_word(tmp_path: Path) -> None:
    told: list[str] = []
    assert list(windows_in(tmp_path, list(LOADERS), told.append)) == []
    for name, said in zip(LOADERS, told, strict=True):
        assert said.startswith(f"{name} is left out: ")
        assert str(tmp_path) in said


def test_the_arena_is_printed_and_its_rows_and_page_are_kept(small, tmp_path: Path) -> None:
    rows, page = tmp_path / "rows.json", tmp_path / "results.md"
    page.write_text(f"# Tables\n\nof the paper\n\n{TITLE}\n\nof last time\n")
    result = done("reproduce", "arena", "--data", tmp_path, "--json", rows, "--results", page)
    assert "absent is left out: flights.parquet is not in" in result.stderr
    assert "AutoARIMA are left out: StatsForecast is not installed" in result.stderr
    assert "joint NLL, score - mark" in result.stdout
    assert "take-away" in result.stdout
    written = json.loads(rows.read_text())
    assert all(list(row) == list(ROW) for row in written)
    assert {row["set"] for row in written} == {"small"}
    assert page.read_text().startswith(f"# Tables\n\nof the paper\n\n{TITLE}\n")
    assert "Windows: small." in page.read_text()
    assert "of last time" not in page.read_text()


def test_the_benchmark_is_the_same_arena(monkeypatch, capsys) -> None:
    def told(folder: Path | None, tell: object, names: list[str] | None) -> None:
        raise dgd.InputError(f"{folder} {names}.")

    monkeypatch.setattr(arena, "held", told)
    call = ["accuracy.py", "--data", "DIR", "--windows", "small, absent"]
    monkeypatch.setattr(sys, "argv", call)
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(BENCHMARK), run_name="__main__")
    assert stopped.value.code == 2
    assert "DIR ['small', 'absent']." in capsys.readouterr().err


def test_a_folder_without_data_is_refused_and_nothing_written(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = run("reproduce", "arena", "--data", empty, "--json", tmp_path / "rows.json")
    assert result.exit_code == 2
    assert "no data set was found" in result.stderr
    assert "KuaiRand late is left out" in result.stderr
    assert list(tmp_path.iterdir()) == [empty]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("option", ["--json", "--results"])
def test_a_target_that_cannot_be_written_is_refused_first(tmp_path: Path, option: str) -> None:
    target = tmp_path / "nowhere" / "file"
    assert_refused(run("reproduce", "arena", "--data", tmp_path, option, target), "nowhere")


def test_an_unknown_window_is_refused() -> None:
    with pytest.raises(dgd.InputError, match='"Retail 1910" is not known; choose among Retail'):
        arena.held(None, print, ["Retail 1910"])


@pytest.mark.long
def test_a_real_window_is_played_whole() -> None:
    """July of Online Retail, where arrivals are forecast better than by the training average."""
    folder = real_data(str(FIRST_SHEET))
    ((name, dataset),) = windows_in(folder, ["Retail July 2010"], print)
    found = Contest(name, dataset, print, seeds=(1,)).rows()
    scores = {row[1:4]: row[4] for row in found.iter_rows()}
    assert found["mean"].is_finite().all()
    for horizon in (1, 3, 7):
        ours, mark = (
            scores[model, horizon, "arrival_crps"] for model in ("default", "training history")
        )
        assert ours < mark


def test_sections_behind_the_arena_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "page", lambda _rows: f"{TITLE}\n\nnew\n")
    text = f"# Tables\n\n{TITLE}\n\nold\n\n### part\n\n## Ranges\n\nkept\n"
    assert (
        pages.joined(text, pl.DataFrame()) == f"# Tables\n\n{TITLE}\n\nnew\n\n## Ranges\n\nkept\n"
    )
    assert pages.joined("", pl.DataFrame()) == f"{TITLE}\n\nnew\n"
