"""From a file to a page about it: columns said, tables beside them chosen, the panel read."""

import re
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.app.readings import hand_over, handed_over
from support.visiting import Visitor, said, visitor


@pytest.fixture
def guest(world: Path, tmp_path: Path) -> Visitor:
    return visitor(world, tmp_path)


def opened(guest: Visitor) -> str:
    return guest.post("open", {"file": "counts.csv"}).json()["go"]


def first_answers(page: str) -> dict[str, list[str]]:
    """What the form on a page sends when nothing is changed."""
    found: dict[str, list[str]] = {}
    for select in re.findall(r'<select name="([^"]+)".*?</select>', page, re.DOTALL):
        inside = re.search(rf'<select name="{select}".*?</select>', page, re.DOTALL)
        assert inside is not None
        chosen = re.search(r'value="([^"]*)" selected', inside[0])
        found[select] = [chosen[1] if chosen else ""]
    for name, value in re.findall(
        r'<input type="checkbox" name="([^"]+)" value="([^"]+)" checked', page
    ):
        found.setdefault(name, []).append(value)
    return found


def test_the_guessed_form_reads_the_panel(guest: Visitor, drawn: dgd.Simulated) -> None:
    go = opened(guest)
    answer = guest.post(go.replace("table", "columns"), first_answers(guest.get(go).text))
    assert answer.status_code == 200, answer.text
    (reading,) = (one for _, one in guest.desk.library.readings.items())
    read, known = reading.panel, drawn.panel
    assert np.array_equal(read.patterns.sum((1, 2)), known.patterns.sum((1, 2)))
    assert set(read.cohorts) == set(known.cohorts)
    assert read.size[0].sum() == known.size[0].sum()
    page = guest.get(answer.json()["go"])
    assert reading.exploration.verdict in page.text
    assert "Last training day" in page.text


def test_a_table_that_cannot_be_right_is_refused_in_the_words_of_the_form(guest: Visitor) -> None:
    go = opened(guest)
    form = first_answers(guest.get(go).text)
    address = go.replace("table", "columns")
    for changed, words in (
        ({"behaviors": []}, "Behaviours are empty; tick at least one"),
        ({"cohort": ""}, "“Rows that repeat”: sum"),
        ({"date": ""}, "Date is empty; choose the column"),
        ({"count": "2"}, 'names "cohort" twice'),
        ({"unit": "99"}, 'Unit is "99", which is not offered'),
        ({"sizes": "file:../x.csv"}, "is not among the tables"),
        ({"sizes": "table:unknown"}, "no longer open"),
    ):
        answer = guest.post(address, {**form, **changed})
        assert answer.status_code == 422, changed
        assert words in said(answer), changed


def test_a_table_from_elsewhere_can_be_chosen_beside_it(
    guest: Visitor, drawn: dgd.Simulated
) -> None:
    go = opened(guest)
    table = drawn.sizes_to_frame("polars").with_columns(pl.col("size") * 2)
    told = guest.upload("other.csv", table.write_csv().encode()).json()
    form = first_answers(guest.get(go).text)
    guest.post(go.replace("table", "columns"), {**form, "sizes": told["value"]})
    (reading,) = (one for _, one in guest.desk.library.readings.items())
    assert reading.panel.size[0].sum() == 2 * drawn.panel.size[0].sum()


def test_labels_of_strangers_are_text_on_every_page(tmp_path: Path) -> None:
    label = "<img src=x onerror=alert(1)>"
    rows = pl.DataFrame(
        {
            "date": [f"2024-01-{day:02d}" for day in range(1, 15) for _ in range(2)],
            label: [label, "b"] * 14,
            "<b>click": ["0", "1"] * 14,
            "count": ["5"] * 28,
        }
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "scratch").mkdir()
    rows.write_csv(tmp_path / "data" / "<i>.csv")
    guest = visitor(tmp_path / "data", tmp_path / "scratch")
    go = guest.post("open", {"file": "<i>.csv"}).json()["go"]
    page = guest.get(go).text
    next_one = guest.post(go.replace("table", "columns"), first_answers(page)).json()["go"]
    for text in (guest.get().text, page, guest.get(next_one).text):
        assert "<img" not in text
        assert "<b>" not in text
        assert "<i>" not in text
    assert "&lt;img src=x" in page


def test_a_file_that_is_no_table_is_refused_by_its_name(tmp_path: Path) -> None:
    for name in ("data", "scratch"):
        (tmp_path / name).mkdir()
    (tmp_path / "data" / "bad.parquet").write_text("no table")
    guest = visitor(tmp_path / "data", tmp_path / "scratch")
    answer = guest.post("open", {"file": "bad.parquet"})
    assert 'File "bad.parquet" cannot be read as a table' in said(answer)
    assert str(tmp_path) not in answer.text


def test_special_days_are_read_and_handed_over(world: Path, tmp_path: Path) -> None:
    own = shutil.copytree(world, tmp_path / "own")
    (own / "days.csv").write_text("date,name\n2022-01-12,sale\n", "utf-8")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    guest = visitor(own, scratch)
    go = opened(guest)
    form = {**first_answers(guest.get(go).text), "country": ["GB"], "special": ["file:days.csv"]}
    answer = guest.post(go.replace("table", "columns"), form)
    assert answer.status_code == 200, answer.text
    (reading,) = (one for _, one in guest.desk.library.readings.items())
    days = reading.panel.special_days
    assert (days.country, days.names) == ("GB", ("sale",))
    assert "public holidays (GB)" in guest.get(answer.json()["go"]).text
    folder = tmp_path / "handed"
    folder.mkdir()
    hand_over(reading, folder)
    assert handed_over(folder).special_days == days
