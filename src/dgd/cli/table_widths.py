"""Tables as wide as a terminal: headings wrap first, then the lines go, then columns move to a
table below or labels wrap.

Every part of a table repeats the columns that say what its rows are. Numbers and dates stay whole
wherever one of them finds room beside those columns.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl
from rich.cells import cell_len

from dgd.tables.showing import one_line, shown_value

BOXED, OPEN = 3, 2
"""What a column takes beside its content: two spaces and a line, or without lines the spaces."""
MOST_PARTS = 3
LABEL_WIDTHS = (32, 20, 12, 8)
"""Labels are wrapped to the first of these that lets a table fit."""
LONGEST_PIECE = 12
"""A longer word of a heading may be broken."""
FIGURES = re.compile(r"[\s\d.,+-]*(?: to [\s\d.,+-]*)?")


@dataclass(frozen=True)
class Column:
    """A column as it will be read."""

    name: str
    cells: tuple[str, ...]
    kind: Literal["label", "date", "number"]
    fraction: bool
    """Whether it says how much, to a fraction; whole numbers may as well say of what."""

    @staticmethod
    def of(values: pl.Series) -> "Column":
        cells = tuple(one_line(shown_value(value)) for value in values)
        dtype, figures = values.dtype, all(map(FIGURES.fullmatch, cells))
        numeric = dtype.is_numeric() or (dtype == pl.String and figures)
        kind: Literal["label", "date", "number"] = (
            "date" if dtype.is_temporal() else "number" if numeric else "label"
        )
        return Column(one_line(values.name), cells, kind, dtype.is_float())

    @property
    def content(self) -> int:
        return max(map(cell_len, self.cells), default=0)

    @property
    def natural(self) -> int:
        return max(cell_len(self.name), self.content)

    def least(self, label: int) -> int:
        """How narrow it may become where labels may be wrapped to `label`."""
        pieces = max(
            (min(cell_len(piece.rstrip()), LONGEST_PIECE) for piece in pieces_of(self.name)),
            default=0,
        )
        return max(pieces, min(self.content, label) if self.kind == "label" else self.content)

    def heading(self, width: int) -> str:
        """The name, broken between words and after underscores where it must be."""
        lines = [""]
        for piece in pieces_of(self.name):
            if lines[-1] and cell_len(lines[-1] + piece.rstrip()) > width:
                lines[-1] = lines[-1].rstrip()
                lines.append("")
            lines[-1] += piece
        return "\n".join(lines).rstrip()


def pieces_of(name: str) -> list[str]:
    """The words of a heading, each with what separates it from the next."""
    return re.findall(r"[^\s_]*_+|\S+\s*|\s+", name)


@dataclass(frozen=True)
class Part:
    """Some columns of a table and the width of each."""

    columns: tuple[Column, ...]
    widths: tuple[int, ...]
    boxed: bool


def parts_of(table: pl.DataFrame, width: int) -> tuple[list[Part], list[str]]:
    """The table in parts that fit, and the names of columns that found no place in them."""
    columns = [Column.of(values) for values in table]
    label, around = LABEL_WIDTHS[0], BOXED
    if _taken(columns, label, around) <= width:
        return [Part(tuple(columns), _widths(columns, label, around, width), boxed=True)], []
    keys, rest = columns[: _keys(columns)], columns[_keys(columns) :]
    divided: list[list[Column]] = []
    for label in LABEL_WIDTHS:
        divided = _divided(keys, rest, label, width)
        fits = all(_taken(part, label, OPEN) <= width for part in divided)
        if fits and len(divided) <= MOST_PARTS:
            break
    shown = [
        Part(tuple(part), _widths(part, label, OPEN, width), boxed=False)
        for part in divided[:MOST_PARTS]
    ]
    left = [column.name for part in divided[MOST_PARTS:] for column in part[len(keys) :]]
    return shown, left


def _keys(columns: Sequence[Column]) -> int:
    """How many columns at the front say what a row is: those before the first fraction, or up to
    the last label that numbers follow; one at least."""
    fractions = [number for number, column in enumerate(columns) if column.fraction]
    after_labels = [
        number
        for number in range(1, len(columns))
        if columns[number - 1].kind == "label" and columns[number].kind == "number"
    ]
    return max(1, *(fractions[:1] or after_labels[-1:]))


def _divided(keys: list[Column], rest: list[Column], label: int, width: int) -> list[list[Column]]:
    parts: list[list[Column]] = [[*keys]]
    for column in rest:
        if len(parts[-1]) > len(keys) and _taken([*parts[-1], column], label, OPEN) > width:
            parts.append([*keys])
        parts[-1].append(column)
    return parts


def _taken(columns: Sequence[Column], label: int, around: int) -> int:
    return sum(column.least(label) for column in columns) + _between(len(columns), around)


def _between(columns: int, around: int) -> int:
    """Spaces and lines: a box has one line more than columns, an open table a space less."""
    return around * columns + (1 if around == BOXED else -1)


def _widths(columns: Sequence[Column], label: int, around: int, width: int) -> tuple[int, ...]:
    """As wide as they are, the one with most room to spare becoming narrower until all fit."""
    least = [column.least(label) for column in columns]
    found = [max(column.natural, low) for column, low in zip(columns, least, strict=True)]
    room = width - _between(len(columns), around)
    while sum(found) > room:
        spare = [wide - low for wide, low in zip(found, least, strict=True)]
        if max(spare) <= 0:
            break
        found[spare.index(max(spare))] -= 1
    return tuple(found)
