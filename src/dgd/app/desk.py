"""The desk: what every part of the app shares, and what pages and answers are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import altair as alt
import polars as pl

from dgd.app.folder import Folder
from dgd.app.library import Library, Result
from dgd.app.uploads import UPLOAD_LIMIT
from dgd.choice.markets import Markets
from dgd.panel.panel import Panel
from dgd.report.page.figures import figure, scrolled
from dgd.tables.html import escaped
from dgd.tables.plain_numbers import sentence

MOST_ROWS = 200
"""Rows that a page shows of a table; the download has all."""


@dataclass(frozen=True)
class Go:
    """The answer to a form that leads to another page."""

    address: str
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """What stands on a page, and which way led there."""

    title: str
    body: str
    trail: Sequence[tuple[str, str]] = ()
    """The pages before it: (address, title)."""
    lead: str = ""
    """A sentence under the title."""
    nav: Sequence[tuple[str, str]] = ()
    """Pages beside it: (address, title)."""
    here: str = ""
    """The address among those beside it."""


@dataclass(frozen=True)
class Desk:
    """The folder that is read from, a folder of our own, and everything that is open."""

    folder: Folder
    scratch: Path
    upload_limit: int = UPLOAD_LIMIT
    library: Library = field(default_factory=Library)

    def shown(self, title: str, table: pl.DataFrame, name: str = "") -> str:
        """A table with its title, and a link to all of it as CSV."""
        return f"<h3>{escaped(title)}</h3>{scrolled(table, title, MOST_ROWS)}" + self.download(
            table, name or title
        )

    def folded(self, title: str, table: pl.DataFrame, name: str = "") -> str:
        """The same, shown when it is asked for."""
        inside = scrolled(table, title, MOST_ROWS) + self.download(table, name or title)
        return f"<details><summary>{escaped(title)}</summary>{inside}</details>"

    def charted(self, name: str, chart: alt.TopLevelMixin, words: str, table: pl.DataFrame) -> str:
        """A chart with the numbers behind it, to be seen and to be downloaded."""
        return figure(name, chart, words, table) + self.download(table, name)

    def download(self, table: pl.DataFrame, name: str) -> str:
        plain = "".join(
            letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower()
        ).strip("-")
        known = self.library.results.put(Result(plain or "table", table))
        return (
            f'<p class="download"><a href="result?id={quote(known)}" download>'
            f'Download as CSV<span class="hidden">: {escaped(name)}</span></a></p>'
        )


def sentences(said: Sequence[str], kind: str = "note", most: int = 3) -> str:
    """Notes and warnings, a paragraph each; of many the others are shown when asked for."""
    told = "".join(f'<p class="{kind}">{escaped(sentence(one))}</p>' for one in said[:most])
    return told + listed(f"{len(said) - most} more of these", said[most:])


def listed(title: str, said: Sequence[str]) -> str:
    """Sentences that few need, shown when they are asked for."""
    if not said:
        return ""
    inside = "".join(f"<li>{escaped(sentence(one))}</li>" for one in said)
    return f"<details><summary>{escaped(title)}</summary><ul>{inside}</ul></details>"


def described(data: Panel | Markets) -> str:
    """What a fit was made with, in a line."""
    if isinstance(data, Markets):
        parts = [(data.markets, "market"), (data.products, "product"), (data.cohorts, "cohort")]
        return ", ".join(_several(len(labels), word) for labels, word in parts)
    parts = [(data.units, "unit"), (data.cohorts, "cohort"), (data.behaviors, "behaviour")]
    return (
        f"{_several(data.days, data.period.name)} from {data.dates[0]} to {data.dates[-1]}, "
        + ", ".join(_several(len(labels), word) for labels, word in parts)
        + f", {_several(int(data.arrivals.sum()), 'arrival')}"
    )


def _several(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def facts(rows: Sequence[tuple[object, object]]) -> str:
    """Names and values side by side."""
    inside = "".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in rows
    )
    return f'<dl class="facts">{inside}</dl>'


def cards(rows: Sequence[tuple[object, object, object]]) -> str:
    """Figures that matter: a name, the figure, and a few words about it."""
    inside = "".join(
        f"<li><span>{escaped(name)}</span><strong>{escaped(value)}</strong>"
        f'<span class="soft">{escaped(words)}</span></li>'
        for name, value, words in rows
    )
    return f'<ul class="figures">{inside}</ul>'
