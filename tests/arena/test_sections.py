"""The page of results: whoever writes a section leaves those of others alone."""

from pathlib import Path

import polars as pl

from dgd.arena.sections import with_others_of, with_section
from dgd.cli.reproduce import _page

RESULTS = Path(__file__).parents[2] / "docs" / "results.md"
ROW = {"model": "m", "window": "w", "metric": "x", "mean": 1.0, "sd": None, "paper": None}


def sections(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("## ")]


def test_a_section_takes_the_place_of_the_one_before() -> None:
    text = "# Page\n\n## One\n\nold\n\n### Part\n\n## Two\n\nkept\n"
    found = with_section(text, "## One\n\nnew\n")
    assert found == "# Page\n\n## One\n\nnew\n\n## Two\n\nkept\n"
    assert with_section(found, "## One\n\nnew\n") == found
    assert with_section("", "## One\n") == "## One\n"


def test_a_page_written_anew_keeps_what_others_wrote() -> None:
    before = "# Old\n\nhead\n\n## Table\n\nold\n\n## Measured\n\nby hand\n"
    found = with_others_of(before, "# New\n\n## Table\n\nnew")
    assert found == "# New\n\n## Table\n\nnew\n\n## Measured\n\nby hand\n"


def test_measured_figures_survive_the_papers_tables_and_the_arena() -> None:
    before = RESULTS.read_text("utf-8")
    measured = before[before.index("## Measured\n") :]
    tables = {"data-windows": pl.DataFrame([ROW], schema_overrides={"sd": float, "paper": float})}
    again = _page(tables, everything=True, before=before)
    assert again.endswith(measured)
    assert sections(again).count("## data-windows") == 1
    assert with_section(again, "## The accuracy arena\n\nanew\n").endswith(measured)
    assert with_section(again, "## Ranges of daily totals\n\nanew\n").endswith(measured)
