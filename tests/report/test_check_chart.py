"""The chart of a checkup says of every check whether it holds, and lists the warnings."""

from pathlib import Path

import pytest

from dgd.report import check_chart, check_table, save_chart
from support.made_up_checkup import checkup


def test_every_check_has_its_part_of_the_bound_and_a_word() -> None:
    found = checkup()
    table = check_table(found)
    assert table["check"].to_list() == found.summary()["check"].to_list()
    told = dict(table.select("check", "verdict").iter_rows())
    assert told["NLL change with 61 nodes"] == "holds"
    assert told["probability change with 61 nodes"] == "has no bound"
    assert told["largest memory"] == "exceeds"
    part = dict(table.select("check", "part").iter_rows())
    assert part["error of the state after 7 days"] == pytest.approx(0.5)
    assert part["largest memory"] == pytest.approx(30.0)
    assert part["probability change with 61 nodes"] is None


def test_an_error_beyond_its_bound_is_told_wherever_it_is() -> None:
    """The largest error of all is within its bound; a smaller one has a smaller bound."""
    told = dict(check_table(checkup()).select("check", "verdict").iter_rows())
    assert told["error of probability"] == "exceeds"


def test_the_words_and_the_warnings_are_in_the_picture(tmp_path: Path) -> None:
    rare = (None, "rarely shown", "behaviour buy", 3.0, "count more days")
    save_chart(check_chart(checkup(rare)), tmp_path / "checks.svg")
    svg = (tmp_path / "checks.svg").read_text()
    for words in ("exceeds: 30 of 1", "0.1, has no bound", "Read with care"):
        assert f">{words}<" in svg
    assert "rarely shown, behaviour buy (3); count more days." in svg
    assert "NaN" not in svg


def test_many_warnings_are_cut_and_none_leave_no_heading(tmp_path: Path) -> None:
    many = checkup(*[(1, "components coincide", "cohort a", 0.1, "fit with fewer")] * 15)
    save_chart(check_chart(many), tmp_path / "checks.svg")
    assert "... and 3 more warnings" in (tmp_path / "checks.svg").read_text()
    save_chart(check_chart(checkup()), tmp_path / "checks.svg")
    assert "Read with care" not in (tmp_path / "checks.svg").read_text()
