"""What a page is made of: sections with a heading, sentences, choices, and rows for its script."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import polars as pl

from dgd.report.charts.drawable import drawable
from dgd.report.charts.page import json_in_script
from dgd.report.page.packing import packed_table
from dgd.tables.html import escaped
from dgd.tables.plain_numbers import sentence


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
    return "".join(f"<p{named}>{escaped(sentence(one))}</p>" for one in sentences)


def bullets(sentences: Sequence[str], kind: str = "") -> str:
    """The sentences as a list, or nothing where there are none."""
    if not sentences:
        return ""
    named = f' class="{kind}"' if kind else ""
    return (
        f"<ul{named}>"
        + "".join(f"<li>{escaped(sentence(one))}</li>" for one in sentences)
        + "</ul>"
    )


def selector(name: str, label: str, options: Sequence[tuple[str, str]]) -> str:
    """A choice among `options`, each its value and what people read; the first one holds."""
    # values must be equal to the texts of packed rows, so they are made drawable as those are
    shown = "".join(
        f'<option value="{escape(drawable(value))}">{escaped(words)}</option>'
        for value, words in options
    )
    return _field(name, label, f'<select id="choose-{name}" data-choice="{name}">{shown}</select>')


def slider(name: str, label: str, least: float, most: float, step: float, value: float) -> str:
    """A knob with the number it stands at beside it."""
    knob = (
        f'<input type="range" id="choose-{name}" data-choice="{name}" min="{least:g}" '
        f'max="{most:g}" step="{step:g}" value="{value:g}">'
    )
    return _field(name, label, f'{knob} <output data-shows="{name}" for="choose-{name}"></output>')


def _field(name: str, label: str, control: str) -> str:
    return (
        f'<div class="field"><label for="choose-{name}">{escaped(label)}</label>'
        f"<span>{control}</span></div>"
    )


def rows_block(name: str, table: pl.DataFrame) -> str:
    """A table for the page's script."""
    return (
        f'<script type="application/json" class="rows" id="rows-{name}">'
        f"{json_in_script(packed_table(table))}</script>"
    )
