"""What a page is made of: sections with a heading, sentences, choices, and rows for its script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import polars as pl

from dgd.report.charts.drawable import drawable
from dgd.report.charts.page import json_in_script
from dgd.tables.html import escaped

FIGURES = 5
"""Significant figures that numbers of a page keep: more cannot be seen in a chart."""


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading of its own."""

    name: str
    """Its id, which the table of contents links to."""
    title: str
    body: str
    """HTML in which everything from outside is escaped."""

    @property
    def html(self) -> str:
        return (
            f'<section id="{self.name}" aria-labelledby="{self.name}-title">'
            f'<h2 id="{self.name}-title">{escaped(self.title)}</h2>{self.body}</section>'
        )


def paragraphs(sentences: Sequence[str], kind: str = "") -> str:
    """Each sentence a paragraph; `kind` "note" or "warning" sets them off."""
    named = f' class="{kind}"' if kind else ""
    return "".join(f"<p{named}>{escaped(sentence)}</p>" for sentence in sentences)


def bullets(sentences: Sequence[str], kind: str = "") -> str:
    """The sentences as a list, or nothing where there are none."""
    if not sentences:
        return ""
    named = f' class="{kind}"' if kind else ""
    return f"<ul{named}>" + "".join(f"<li>{escaped(one)}</li>" for one in sentences) + "</ul>"


def selector(name: str, label: str, options: Sequence[tuple[str, str]]) -> str:
    """A choice among `options`, each its value and what people read; the first one holds."""
    # values must be equal to the texts of `packed` rows, so they are made drawable as those are
    shown = "".join(
        f'<option value="{escape(drawable(value))}">{escaped(words)}</option>'
        for value, words in options
    )
    return f'<label>{escaped(label)}<select data-choice="{name}">{shown}</select></label>'


def slider(name: str, label: str, least: float, most: float, step: float, value: float) -> str:
    """A knob with the number it stands at beside it."""
    return (
        f"<label>{escaped(label)}<span><input type='range' data-choice='{name}' min='{least:g}' "
        f"max='{most:g}' step='{step:g}' value='{value:g}'> <output data-shows='{name}'>"
        "</output></span></label>"
    )


def rows_block(name: str, table: pl.DataFrame) -> str:
    """A table for the page's script, column by column; texts that repeat are written once."""
    return (
        f'<script type="application/json" class="rows" id="rows-{name}">'
        f"{json_in_script(packed(table))}</script>"
    )


def packed(table: pl.DataFrame) -> dict[str, Any]:
    """Columns as lists; of a text column the different texts and, per row, which it is."""
    found: dict[str, Any] = {}
    for column in table:
        if column.dtype.is_float():
            rounded = column.round_sig_figs(FIGURES).fill_nan(None)
            found[column.name] = {"values": drawable(rounded.to_list())}
        elif column.dtype.is_temporal():
            texts = column.cast(pl.Datetime("ms")).dt.strftime("%Y-%m-%dT%H:%M:%S")
            found[column.name] = {"moments": True, **_coded(texts)}
        elif column.dtype == pl.String:
            found[column.name] = _coded(column)
        else:
            found[column.name] = {"values": column.to_list()}
    return found


def _coded(column: pl.Series) -> Mapping[str, Any]:
    texts = column.unique(maintain_order=True)
    number = {text: at for at, text in enumerate(texts)}
    return {"texts": drawable(texts.to_list()), "values": [number[text] for text in column]}
