"""Tables on disk, damaged or only written another way, read as `dgd fit` reads them."""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from dgd import Panel
from dgd.cli.options import PanelOptions
from dgd.tables.files import write_table
from support.fuzzing.damage import damaged
from support.fuzzing.odd_values import TEXTS, any_of, shown
from support.fuzzing.outcomes import Case
from support.fuzzing.tables import clean, sensible
from support.small_panel import assert_same

TABLES = ("counts", "counts", "sizes", "effort", "features")
WRITTEN = ["007", "1e5", "1.10", "7", "0", "-3", "nan", "null", "true", "0x10", "1_000", "NA", "+7"]
"""Labels that a reader of CSV files may take for something else."""
ODD_TEXTS = [text for text in TEXTS if text != "\ud800"]


def prepare(folder: Path) -> Callable[[np.random.Generator], Case]:
    """What draws a case from sound files of either kind."""
    texts, files = {}, {}
    for name, columns in clean().items():
        table = pl.DataFrame(columns)
        for suffix in ("csv", "parquet"):
            file = folder / f"{name}.{suffix}"
            write_table(table, file)
            files[name, suffix] = file
        texts[name] = list(csv.reader((folder / f"{name}.csv").open()))
    sound = PanelOptions(
        files["counts", "csv"],
        "click,like",
        **{name: files[name, "csv"] for name in ("sizes", "effort", "features")},
    )
    panel = sound.read()

    def draw(rng: np.random.Generator) -> Case:
        kind = rng.choice(["bytes", "texts", "same", "labels"], p=[0.5, 0.25, 0.15, 0.1])
        name = any_of(rng, TABLES)
        if kind == "bytes":
            suffix = any_of(rng, ["csv", "parquet"])
            what, content = damaged(rng, files[name, suffix].read_bytes())
            return _case(sound, folder, name, suffix, f"{suffix} {what}", content, sensible_only)
        if kind == "labels":
            label = any_of(rng, WRITTEN)
            return _label_case(sound, folder, texts["counts"], label)
        rows = [list(row) for row in texts[name]]
        if kind == "same":
            what, content = _written_another_way(rng, rows)
            return _case(sound, folder, name, "csv", what, content, lambda p: assert_same(p, panel))
        what = _odd_text(rng, rows)
        content = _csv(rows).encode(any_of(rng, ["utf-8", "utf-8", "utf-16", "utf-8-sig"]))
        return _case(sound, folder, name, "csv", what, content, sensible_only)

    return draw


def sensible_only(panel: Panel) -> None:
    sensible(panel, whole=False)


def _case(
    sound: PanelOptions,
    folder: Path,
    name: str,
    suffix: str,
    what: str,
    content: bytes,
    check: Callable[[Panel], None],
) -> Case:
    def attempt() -> None:
        file = folder / f"changed.{suffix}"
        file.write_bytes(content)
        changes: dict[str, Any] = {name: file}
        check(replace(sound, **changes).read())

    return Case(f"{name} {what}", attempt)


def _label_case(sound: PanelOptions, folder: Path, rows: list[list[str]], label: str) -> Case:
    """A label that looks like a number or like nothing stays as it is written."""
    written = [[label if cell == "north" else cell for cell in row] for row in rows]
    alone = replace(sound, sizes=None, effort=None, features=None)

    def check(panel: Panel) -> None:
        assert sorted(map(str, panel.units)) == sorted([label, "south"])

    content = _csv(written).encode()
    return _case(alone, folder, "counts", "csv", f"unit {label}", content, check)


def _csv(rows: list[list[str]], **how: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator=how.pop("lineterminator", "\n"), **how).writerows(rows)
    return text.getvalue()


def _odd_text(rng: np.random.Generator, rows: list[list[str]]) -> str:
    """One cell, header included, holds another text; now and then a row is short or long."""
    row, text = int(len(rows) * rng.random() ** 2), any_of(rng, ODD_TEXTS)
    column = int(rng.integers(len(rows[row])))
    change = any_of(rng, ["other", "short", "long", "twice", "header twice"])
    if change == "other":
        rows[row][column] = text
    elif change == "short":
        del rows[row][column]
    elif change == "long":
        rows[row].insert(column, text)
    elif change == "twice":
        rows.insert(row, rows[row])
    else:
        rows[0][column] = rows[0][-1]
    return f"{change} {shown(text)} in row {row}, column {column}"


def _written_another_way(rng: np.random.Generator, rows: list[list[str]]) -> tuple[str, bytes]:
    """The same table in another order of rows and columns, with other quotes and line ends."""
    order = rng.permutation(len(rows[0])).tolist()
    rows[1:] = [rows[1 + at] for at in rng.permutation(len(rows) - 1).tolist()]
    rows = [[row[at] for at in order] for row in rows]
    quoting = any_of(rng, [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    end = any_of(rng, ["\n", "\r\n"])
    text = _csv(rows, quoting=quoting, lineterminator=end)
    mark = any_of(rng, ["utf-8", "utf-8-sig"])
    return f"same, quoting {quoting}, ends {end!r}, {mark}", text.encode(mark)
