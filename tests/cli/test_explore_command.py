"""The shell's exploration: a table of counts in, what it holds and what can be told out."""

import json
from pathlib import Path

import pytest

from dgd.panel.panel import Panel
from support.counted_worlds import ar1, panel_of_counts
from support.shell import assert_refused, done, run
from support.shop import BEHAVIORS, Shop


@pytest.fixture(scope="module")
def panel() -> Panel:
    return panel_of_counts(0.3 + 0.06 * ar1(70, 1, 0.9, 1) + [[0.0, 0.0, 0.0]], 100, 1)


@pytest.fixture
def call(panel: Panel, tmp_path: Path) -> list[object]:
    file = tmp_path / "counts.csv"
    panel.to_frame("polars").write_csv(file)
    return ["explore", file, "--behaviors", "click"]


def test_facts_figures_and_sentences_are_printed(call: list[object]) -> None:
    shown = done(*call).stdout
    for words in (
        "days: 70",
        "days without arrivals: 0",
        "joint patterns seen: 2",
        "band",
        "needed",
        "arrivals: varies no more than chance: an average is as good as it gets",
        "click: drifts: yesterday tells about today",
        "Dynamics can beat an average for click.",
    ):
        assert words in shown


def test_everything_is_told_as_json(call: list[object], panel: Panel) -> None:
    told = json.loads(done(*call, "--json").stdout)
    expected = json.loads(json.dumps(panel.explore().payload(), default=str))
    assert told == {**expected, "charts": []}
    assert [row["series"] for row in told["series"]] == ["arrivals", "click"]
    assert len(told["daily"]) == 2 * 70


def test_charts_are_written_and_named(call: list[object], tmp_path: Path) -> None:
    folder = tmp_path / "new" / "charts"
    files = [str(folder / f"exploration.{kind}") for kind in ("html", "png", "svg")]
    shown = done(*call, "--charts", folder).stdout
    assert all(f"wrote {file}" in shown for file in files)
    assert (folder / "exploration.svg").read_bytes().startswith(b"<svg")
    assert json.loads(done(*call, "--charts", folder, "--json").stdout)["charts"] == files


def test_a_folder_that_cannot_be_is_refused_before_the_table_is_read(tmp_path: Path) -> None:
    call = ["explore", tmp_path / "absent.csv", "--behaviors", "click", "--charts"]
    (tmp_path / "file").write_text("")
    assert_refused(run(*call, tmp_path / "file"), "is a file; name a folder")
    assert_refused(run(*call, tmp_path / "file" / "charts"), "cannot be made", "name another")


def test_unknown_numbers_are_null_in_json(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("date,click,count\n2022-04-01,0,5\n")
    call = ["explore", file, "--behaviors", "click", "--unit", "none", "--cohort", "none"]
    told = json.loads(done(*call, "--json").stdout)
    assert [row["variance_ratio"] for row in told["series"]] == [None, None]
    assert "too few days to tell: 1 day, about " in done(*call).stdout


def test_effort_is_taken_into_account(csv_shop: Shop) -> None:
    call = ["explore", csv_shop.table("counts"), "--behaviors", BEHAVIORS, "--json"]
    without = json.loads(done(*call).stdout)["series"]
    given = json.loads(done(*call, "--effort", csv_shop.table("effort")).stdout)["series"]
    assert given[0]["variance_ratio"] < without[0]["variance_ratio"]
    assert given[1:] == without[1:]
