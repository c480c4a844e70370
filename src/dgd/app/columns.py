"""Which columns of a table are what: a form that starts from good guesses, and its reading."""

from collections.abc import Sequence
from dataclasses import asdict
from urllib.parse import quote

import polars as pl

from dgd.app.controls import NONE, boxes, choice, folded, form, text
from dgd.app.desk import Desk, Go, Page
from dgd.app.fields import Fields
from dgd.app.guesses import BESIDE, Guess, belonging, guessed
from dgd.app.library import OpenTable
from dgd.app.readings import read
from dgd.errors import InputError
from dgd.report.page.figures import scrolled
from dgd.tables.files import read_table

PERIODS = [("day", "day"), ("week", "week"), ("hour", "hour")]
DUPLICATES = [("refuse", "are a mistake: refuse them"), ("sum", "are added up")]
PARTS = {
    "sizes": "How many people there are (sizes)",
    "effort": "Effort of every date",
    "features": "Further known features",
    "special": "Special days (date and name)",
}
ADD = """
<div class="drop small" data-drop data-options="select[data-tables]">
<label class="button quiet">Add a table from elsewhere
<input class="hidden" type="file" accept=".csv,.parquet"></label>
<div class="answer"></div>
</div>
"""


def table_page(desk: Desk, known: str) -> Page:
    """The first rows, and the form that says what they mean."""
    table = desk.library.tables.get(known)
    guess = guessed(table.frame)
    rows = scrolled(table.frame.head(8), "The first rows")
    inside = (
        '<div class="grid">' + _columns(table, guess) + "</div>"
        + _behaviors(table.frame.columns, guess)
        + "<fieldset><legend>Tables that belong to it, where there are any</legend>"
        + '<div class="grid">' + _beside(desk, table) + "</div>" + ADD + "</fieldset>"
        + folded("More about its rows", '<div class="grid">' + _more() + "</div>")
    )  # fmt: skip
    body = (
        f'<section class="card"><h2>The first rows of {table.frame.height:,}</h2>{rows}</section>'
        "<h2>What the columns mean</h2>"
        + form(f"columns?id={quote(known)}", "answer", inside, "Look at it")
        + '<div id="answer" class="answer"></div>'
    )
    lead = "Say what its columns are; the guesses are dgd's."
    return Page(f"{table.name}", body, trail=[("./", "Start")], lead=lead)


def read_columns(desk: Desk, known: str, fields: Fields) -> Go:
    """Read the table as the form says; the answer leads to what it holds."""
    table = desk.library.tables.get(known)
    names = table.frame.columns
    behaviors = fields.some_of("behaviors", "Behaviours", names)
    if not behaviors:
        raise InputError("Behaviours are empty; tick at least one 0/1 column.")
    columns = {
        "date": _needed(fields, "date", "Date", names),
        "unit": fields.one_of("unit", "Unit", names),
        "cohort": fields.one_of("cohort", "Cohort", names),
        "count": _needed(fields, "count", "Count", names),
        "behaviors": behaviors,
        "context": fields.some_of("context", "Context", names),
        "country": fields.text("country") or None,
        "period": fields.text("period") or "day",
        "duplicates": fields.text("duplicates") or "refuse",
        "start": fields.text("start") or None,
        "end": fields.text("end") or None,
    }
    frames = {"counts": table.frame} | {
        part: _chosen(desk, value) for part in BESIDE if (value := fields.text(part))
    }
    reading = desk.library.readings.put(read(table.name, frames, columns))
    return Go(f"data?id={quote(reading)}")


def _needed(fields: Fields, name: str, label: str, columns: Sequence[str]) -> str:
    found = fields.one_of(name, label, columns)
    if found is None:
        raise InputError(f"{label} is empty; choose the column.")
    return found


def _chosen(desk: Desk, value: str) -> pl.DataFrame:
    """A table by the value of its option: one of the folder, or one that was handed over."""
    kind, _, name = value.partition(":")
    if kind == "table":
        return desk.library.tables.get(name).frame
    return read_table(desk.folder.file(name))


def _columns(table: OpenTable, guess: Guess) -> str:
    names = table.frame.columns
    options = [(number, name) for number, name in enumerate(names)]
    parts: Sequence[tuple[str, str, list[tuple[object, object]], str]] = (
        ("date", "Date", [], "one row's day"),
        ("count", "Count", [], "how many arrivals the row stands for"),
        ("cohort", "Cohort", [NONE], "kinds of people"),
        ("unit", "Unit", [NONE], "places, pages, shops"),
    )
    chosen = asdict(guess)
    return "".join(
        choice(label, part, [*none, *options], _number(names, chosen[part]), hint)
        for part, label, none, hint in parts
    ) + choice("One row is one", "period", PERIODS, guess.period)


def _behaviors(names: Sequence[str], guess: Guess) -> str:
    likely = [(n, name, True) for n, name in enumerate(names) if name in guess.behaviors]
    others = [(n, name, False) for n, name in enumerate(names) if name not in guess.behaviors]
    legend = "Behaviours: 0/1 columns, what an arrival did"
    if not likely:
        return boxes(legend, "behaviors", others)
    rest = boxes("Other columns", "behaviors", others)
    return boxes(legend, "behaviors", likely) + folded("Not among these", rest)


def _beside(desk: Desk, table: OpenTable) -> str:
    listed = [name for name in desk.folder.listing() if not name.endswith(".dgd")]
    handed = [(f"table:{known}", one.name) for known, one in desk.library.tables.items()]
    options = [NONE, *((f"file:{name}", name) for name in listed), *handed]
    values = {str(text): value for value, text in reversed(options)}
    likely = belonging(table.name, [str(text) for _, text in options[1:]])
    return "".join(
        choice(label, part, options, values.get(likely.get(part, ""), ""), more=" data-tables")
        for part, label in PARTS.items()
    )


def _more() -> str:
    return (
        text("Country of public holidays", "country", hint="like GB, GB-ENG or US-CA")
        + choice("Rows that repeat", "duplicates", DUPLICATES, "refuse")
        + text("First date observed", "start", hint="where nothing arrived on it")
        + text("Last date observed", "end", hint="likewise")
    )


def _number(names: Sequence[str], name: str | None) -> object:
    return "" if name is None else names.index(name)
