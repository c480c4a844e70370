"""Pieces of pages: rows that come back as they were, labels that stay text."""

import json
from datetime import date
from html.parser import HTMLParser

import polars as pl
import pytest

from dgd.report.page.packing import packed_rows, packed_table
from dgd.report.page.parts import Section, bullets, paragraphs, rows_block, selector

STRANGE = '</script><b title="x">&amp;'


class Tags(HTMLParser):
    """The elements of a piece of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def unpacked(columns: dict) -> dict[str, list]:
    """What the page's script makes of packed columns."""
    return {
        name: [column["texts"][at] for at in column["values"]]
        if "texts" in column
        else column["values"]
        for name, column in columns.items()
    }


def test_packed_rows_come_back_as_they_were() -> None:
    table = pl.DataFrame(
        {
            "unit": ["a", STRANGE, "a"],
            "date": [date(2022, 4, 21), date(2022, 4, 22), date(2022, 4, 21)],
            "value": [1.0, None, 123456.789],
            "seen": [True, False, True],
        }
    )
    found = unpacked(json.loads(json.dumps(packed_table(table))))
    assert found["unit"] == ["a", STRANGE, "a"]
    assert found["date"] == ["2022-04-21T00:00:00", "2022-04-22T00:00:00", "2022-04-21T00:00:00"]
    assert found["value"] == [1.0, None, pytest.approx(123456.789, rel=1e-4)]
    assert found["seen"] == [True, False, True]


def test_rows_of_charts_may_lack_columns() -> None:
    rows = [{"a": 1, "b": "x"}, {"b": None}, {"a": float("inf"), "b": "x"}]
    found = unpacked(json.loads(json.dumps(packed_rows(rows))))
    assert found == {"a": [1, None, None], "b": ["x", None, "x"]}


def test_rows_cannot_end_their_block() -> None:
    block = rows_block("prices", pl.DataFrame({"unit": [STRANGE]}))
    assert [tag for tag, _ in Tags(block).found] == ["script"]
    assert block.count("</script>") == 1


def test_the_value_of_an_option_is_the_text_of_its_rows() -> None:
    labels = [STRANGE, "two\u2028lines", "\x1b[31m"]
    options = Tags(selector("unit", "Unit", [(label, label) for label in labels])).found
    values = [attributes["value"] for tag, attributes in options if tag == "option"]
    assert values == packed_table(pl.DataFrame({"unit": labels}))["unit"]["texts"]


def test_sentences_and_headings_are_text() -> None:
    for html in (
        paragraphs([STRANGE]),
        bullets([STRANGE]),
        Section("name", STRANGE, "").html,
    ):
        assert not {"b", "script"} & {tag for tag, _ in Tags(html).found}
    assert bullets([]) == ""
