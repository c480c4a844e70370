"""A chart inside a page: what it shows in words, the picture, and the numbers behind it."""

from typing import Any

import altair as alt
import polars as pl

from dgd.report.charts.files import chart_spec
from dgd.report.charts.page import json_in_script
from dgd.report.page.packing import packed_rows
from dgd.tables.html import escaped, html_table

MOST_NUMBERS = 400
"""Rows that the table below a chart has at most; the tables themselves are in the library."""


def figure(
    name: str,
    chart: alt.TopLevelMixin,
    words: str,
    table: pl.DataFrame | None = None,
    rows: str | None = None,
) -> str:
    """A figure that `draw.js` draws.

    Args:
        name: its id on the page.
        words: what the chart shows, for those who do not see it and for those who do.
        table: the numbers, folded away below the chart.
        rows: the block of rows that the page hands over, for a chart of the data "rows".
    """
    spec: dict[str, Any] = {**chart_spec(chart), "description": words}
    rows_of = {name: packed_rows(own) for name, own in spec.pop("datasets", {}).items()}
    kept = {"spec": spec, "datasets": rows_of}
    said = f"<figcaption>{escaped(words)}</figcaption>"
    picture = (
        '<div class="place"></div>'
        f'<script type="application/json" class="chart">{json_in_script(kept)}</script>'
    )
    numbers = "" if table is None else folded("The numbers", table)
    filled = "" if rows is None else f' data-rows="{escaped(rows)}"'
    return f'<figure class="chart" id="{escaped(name)}"{filled}>{said}{picture}{numbers}</figure>'


def folded(title: str, table: pl.DataFrame, most: int | None = MOST_NUMBERS) -> str:
    """A table that is shown when it is asked for."""
    return f"<details><summary>{escaped(title)}</summary>{scrolled(table, title, most)}</details>"


def scrolled(table: pl.DataFrame, title: str, most: int | None = MOST_NUMBERS) -> str:
    """A table that scrolls by itself where the page is too narrow for it, by keyboard too."""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escaped(title)}">'
        f"{html_table(table, most=most)}</div>"
    )
