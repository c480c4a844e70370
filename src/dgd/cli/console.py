"""What every command shares: tables in and out, progress, JSON, exit codes."""

import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dgd.cli.shell_words import said
from dgd.cli.table_widths import Part, parts_of
from dgd.errors import few
from dgd.tables.showing import one_line

STYLES: Mapping[bool, Mapping[str, Any]] = {
    True: {},
    False: {"box": box.SIMPLE_HEAD, "padding": (0, 1, 0, 0), "show_edge": False},
}
"""How tables are drawn with lines between their columns, and where there is no room for lines."""


def plain(text: object) -> Text:
    """`text` as it may reach a terminal: in one line, without control characters, no markup."""
    return Text(one_line(text))


class PlainConsole(Console):
    """A console to which all words are plain: labels, paths and messages come from outside."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print words plainly, and tables and bars as Rich draws them."""
        super().print(*(plain(x) if isinstance(x, str) else x for x in objects), **options)


out = PlainConsole()
err = PlainConsole(stderr=True)


def show(title: str, table: pl.DataFrame, most: int = 24) -> None:
    """Print a table for a person, in several parts where the terminal is narrow."""
    parts, left = parts_of(table.head(most), out.width)
    for number, part in enumerate(parts, start=1):
        heading = plain(f"{title}, {number} of {len(parts)}" if len(parts) > 1 else title)
        heading.stylize("table.title")
        out.print(heading)
        out.print(_drawn(part))
    if table.height > most:
        out.print(f"... and {table.height - most} more rows")
    if left:
        out.print(f"no room here for {few(left)}; --json has everything")


def _drawn(part: Part) -> Table:
    drawn = Table(header_style="bold", **STYLES[part.boxed])
    for column, width in zip(part.columns, part.widths, strict=True):
        name = Text("\n").join(plain(line) for line in column.heading(width).split("\n"))
        side: Literal["left", "right"] = "right" if column.kind == "number" else "left"
        drawn.add_column(name, justify=side, width=width, overflow="fold")
    for row in zip(*(column.cells for column in part.columns), strict=True):
        drawn.add_row(*map(plain, row))
    return drawn


def wrote(*files: Path | str) -> None:
    """Name the files that were written, each in one line however long its name."""
    for file in files:
        out.print(f"wrote {file}", soft_wrap=True)


def print_json(value: Any) -> None:
    """Print one JSON document on standard output, for machines."""
    sys.stdout.write(json.dumps(value, default=str) + "\n")


@contextmanager
def training_bars(quiet: bool) -> Iterator[Any]:
    """Bars on standard error; yields what `backtest(progress=...)` takes."""
    from dgd.learning.bars import bars_on

    if quiet:
        yield False
        return
    with bars_on(err) as board:
        yield board


@contextmanager
def training_progress(seeds: Sequence[int], epochs: int, quiet: bool) -> Iterator[Any]:
    """A bar for every seed on standard error; yields what `fit(progress=...)` takes."""
    with training_bars(quiet) as board:
        if quiet:
            yield False
            return
        with board.training(seeds, epochs) as tell:
            yield tell


@contextmanager
def working(words: str, quiet: bool) -> Iterator[None]:
    """Tell a person at a terminal, on standard error, what is going on for as long as it does."""
    if quiet:
        yield
        return
    with err.status(plain(words)):
        yield


def say(sentences: Iterable[str]) -> None:
    """Print sentences, each in one line however long."""
    for sentence in sentences:
        out.print(sentence, soft_wrap=True)


def tell_new_units(labels: Sequence[object]) -> None:
    """Name, on standard error, the units that newer counts show for the first time."""
    if labels:
        words = f"new to the fit, begun as typical of their cohorts: {few(labels)}"
        err.print(words, soft_wrap=True)


@contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Tell what the library warns of in plain sentences on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for sentence in dict.fromkeys(str(warning.message) for warning in caught):
        err.print(f"warning: {said(sentence)}", soft_wrap=True)
