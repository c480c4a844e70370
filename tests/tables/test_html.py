"""Tables as HTML: every label is text, numbers read as in the shell, and nothing is lost unsaid."""

from html.parser import HTMLParser

import polars as pl

from dgd.tables.html import html_summary, html_table


class Cells(HTMLParser):
    """What a browser makes of a table: the elements there are, and the texts in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_labels_never_become_elements() -> None:
    label = "</td><script>alert(1)</script>\x1b[31m"
    found = Cells(html_table(pl.DataFrame({label: [label]}), label))
    assert "script" not in found.tags
    assert found.texts == ["</td><script>alert(1)</script>"] * 3


def test_numbers_read_as_in_the_shell_and_what_is_missing_is_empty() -> None:
    table = pl.DataFrame({"name": ["a", None], "value": [1234.5678, None]})
    found = Cells(html_table(table))
    assert found.texts == ["name", "value", "a", "1,234.57"]
    assert found.tags.count("td") == 4


def test_rows_that_are_left_out_are_counted() -> None:
    table = pl.DataFrame({"row": range(30)})
    assert Cells(html_table(table)).texts[-1] == "... and 6 more rows"
    assert Cells(html_table(table, most=None)).texts[-1] == "29"


def test_a_summary_holds_its_sentences_and_tables() -> None:
    html = html_summary("A <fit>", ["First & second."], {"Rows": pl.DataFrame({"n": [1]})})
    assert Cells(html).texts == ["A <fit>", "First & second.", "Rows", "n", "1"]
