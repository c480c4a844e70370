"""Mutated tables and arguments of `Panel.from_counts`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from dgd import Panel
from support.fuzzing.odd_values import NAMES, ODD, any_of, shown
from support.fuzzing.outcomes import Case
from support.small_panel import assert_same

Columns = dict[Any, list[Any]]
Change = Callable[[np.random.Generator, Columns], str]

BEHAVIORS = ["click", "like"]
DAYS = 8
TABLES = ("counts", "counts", "counts", "sizes", "effort", "features")
ARGUMENTS = (
    "behaviors", "units", "cohorts", "start", "end", "period", "context", "date", "unit", "cohort",
    "count", "duplicates", "sizes", "effort", "features", "counts",
)  # fmt: skip
COUNTED = 3 * 4 * DAYS


def clean() -> dict[str, Columns]:
    """Eight days of two units and two cohorts, and the tables that go with them."""
    days = (np.datetime64("2022-04-01") + np.arange(DAYS)).tolist()
    cells = [(d, u, c) for d in range(DAYS) for u in range(2) for c in range(2)]
    keys: Columns = {
        "date": [days[d] for d, _, _ in cells],
        "unit": [["north", "south"][u] for _, u, _ in cells],
        "cohort": [["new", "old"][c] for _, _, c in cells],
    }
    return {
        "counts": {
            **keys,
            "click": [(d + u) % 2 for d, u, _ in cells],
            "like": [c for _, _, c in cells],
            "count": [3] * len(cells),
        },
        "sizes": {"cohort": ["new", "old"], "size": [5.0, 7.0]},
        "effort": {"date": days, "effort": [1.0 + d for d in range(DAYS)]},
        "features": {**keys, "rain": [d / 4 for d, _, _ in cells]},
    }


def prepare(folder: Path) -> Callable[[np.random.Generator], Case]:
    """What draws a case."""
    del folder
    sound = _panel(_frames(clean()))
    return lambda rng: _case(rng, sound)


def _case(rng: np.random.Generator, sound: Panel) -> Case:
    kind = rng.choice(["values", "same", "arguments"], p=[0.6, 0.2, 0.2])
    if kind == "same":
        return _same_case(rng, sound)
    if kind == "arguments":
        return _argument_case(rng)
    name = any_of(rng, TABLES)
    tables = clean()
    changes = [any_of(rng, CHANGES)(rng, tables[name]) for _ in range(rng.integers(1, 3))]
    frames = _frames(clean())
    frames[name] = _odd_frame(rng, tables[name])
    if name != "counts":
        frames = {key: frames[key] for key in ("counts", name)}
    elif rng.random() < 0.7:
        frames = {"counts": frames["counts"]}
    options: dict[str, Any] = {"duplicates": "sum"} if rng.random() < 0.2 else {}
    return Case(
        f"{name} {type(frames[name]).__module__.partition('.')[0]}: {'; '.join(changes)} {options}",
        lambda: sensible(_panel(frames, **options), name != "counts"),
    )


def _argument_case(rng: np.random.Generator) -> Case:
    frames, options = _frames(clean()), {}
    for _ in range(rng.integers(1, 3)):
        name = any_of(rng, ARGUMENTS)
        value = any_of(rng, ODD if rng.random() < 0.6 else NAMES)
        if rng.random() < 0.3:
            value = [any_of(rng, [*ODD, *NAMES]) for _ in range(rng.integers(0, 4))]
        if name == "sizes" and rng.random() < 0.5:
            value = {"new": value, "old": 1.0}
        if name in frames:
            frames[name] = value
        else:
            options[name] = value
    told = {key: frames[key] for key in frames if not isinstance(frames[key], pl.DataFrame)}
    return Case(
        f"arguments {shown(options | told)}",
        lambda: sensible(_panel(frames, **options), whole=False),
    )


def _panel(frames: dict[str, Any], **options: Any) -> Panel:
    given = {"behaviors": BEHAVIORS, **frames, **options}
    return Panel.from_counts(given.pop("counts"), **given)


def panel_with(tables: dict[str, Columns], **options: Any) -> Panel:
    """The panel of these tables."""
    return _panel(_frames(tables), **options)


def sensible(panel: Panel, whole: bool) -> None:
    """Everything finite and within its range; read back, the same again."""
    assert np.all(panel.patterns >= 0)
    for grid in (panel.size, panel.effort, panel.features):
        assert np.all(np.isfinite(grid))
    assert panel.size.min() > 0
    assert panel.effort.min() >= 0
    assert 1000 <= int(str(panel.dates[0])[:4]) <= int(str(panel.known_dates[-1])[:4]) < 10_000
    assert "Panel(" in repr(panel)
    if whole:
        assert panel.arrivals.sum() == COUNTED
    rows = panel.to_frame("polars")
    assert rows[panel.columns.count].sum() == panel.arrivals.sum()
    panel.to_frame()


def _frames(tables: dict[str, Columns]) -> dict[str, Any]:
    return {name: pl.DataFrame(columns, strict=False) for name, columns in tables.items()}


def _odd_frame(rng: np.random.Generator, columns: Columns) -> Any:
    """A frame of these columns, of a kind that takes them."""
    if rng.random() < 0.5:
        try:
            return pl.DataFrame(columns, strict=bool(rng.random() < 0.5))
        except BaseException:  # Polars panics outside of Exception
            pass
    kind = object if rng.random() < 0.3 else None
    made = dict(enumerate(_pandas_column(values, kind) for values in columns.values()))
    frame = pd.DataFrame(made)
    frame.columns = pd.Index(list(columns), dtype=object, tupleize_cols=False)
    if rng.random() < 0.1 and len(frame.columns):
        at = int(rng.integers(len(frame.columns)))
        frame = pd.concat([frame, frame.iloc[:, [at]]], axis=1)
    if rng.random() < 0.1:
        frame.index = pd.Index(rng.integers(0, 3, len(frame)))
    return frame


def _pandas_column(values: list[Any], kind: Any) -> pd.Series:
    try:
        return pd.Series(values, dtype=kind)
    except (TypeError, ValueError, OverflowError):
        made = np.empty(len(values), object)
        for place, value in enumerate(values):
            made[place] = value
        return pd.Series(made, dtype=object)


# What may happen to a table


def _cells(rng: np.random.Generator, columns: Columns) -> str:
    name, value = any_of(rng, list(columns)), any_of(rng, ODD)
    rows = rng.integers(0, len(columns[name]) or 1, rng.integers(1, 4)).tolist()
    for row in rows if columns[name] else []:
        columns[name][row] = value
    return f"{shown(value)} in {shown(name)} rows {rows}"


def _column(rng: np.random.Generator, columns: Columns) -> str:
    name, value = any_of(rng, list(columns)), any_of(rng, ODD)
    columns[name] = [value] * len(columns[name])
    return f"all of {shown(name)} is {shown(value)}"


def _mixture(rng: np.random.Generator, columns: Columns) -> str:
    name = any_of(rng, list(columns))
    columns[name] = [any_of(rng, ODD) for _ in columns[name]]
    return f"{shown(name)} is a mixture"


def _renamed(rng: np.random.Generator, columns: Columns) -> str:
    old, new = any_of(rng, list(columns)), any_of(rng, NAMES)
    values = columns.pop(old)
    columns[new] = values
    return f"{shown(old)} is called {shown(new)}"


def _further(rng: np.random.Generator, columns: Columns) -> str:
    name, value = any_of(rng, NAMES), any_of(rng, ODD)
    columns.setdefault(name, [value] * len(next(iter(columns.values()), [])))
    return f"with {shown(name)} of {shown(value)}"


def _lost(rng: np.random.Generator, columns: Columns) -> str:
    if len(columns) == 1:
        return "nothing"
    return f"without {shown(columns.pop(any_of(rng, list(columns))))}"


def _rows(rng: np.random.Generator, columns: Columns) -> str:
    length = len(next(iter(columns.values())))
    keep = rng.integers(0, length or 1, any_of(rng, [0, 1, 2, length, 2 * length])).tolist()
    for name, values in columns.items():
        columns[name] = [values[row] for row in keep] if values else []
    return f"rows {shown(keep)}"


CHANGES: list[Change] = [
    _cells, _cells, _cells, _column, _column, _mixture, _renamed, _further, _lost, _rows,
]  # fmt: skip


# What a table may look like without saying anything else


def _same_case(rng: np.random.Generator, sound: Panel) -> Case:
    frames = _frames(clean())
    name = any_of(rng, TABLES)
    table = frames[name]
    casts = []
    for column in table.columns:
        kind = any_of(rng, KINDS[column])
        casts.append(f"{column} {kind}")
        table = table.with_columns(pl.col(column).cast(kind))
    order = rng.permutation(len(table.columns)).tolist()
    table = table[rng.permutation(table.height).tolist()].select(table.columns[i] for i in order)
    form = any_of(rng, list(FORMS))
    frames[name] = FORMS[form](table)
    return Case(
        f"{name} as {form}: {', '.join(casts)}",
        lambda: assert_same(_panel(frames), sound),
    )


LABELS = [pl.String, pl.String, pl.Categorical]
MARKS = [pl.Int8, pl.UInt64, pl.Float32, pl.String, pl.Boolean, pl.Int64]
VALUES = [pl.Float64, pl.String, pl.Float64]
KINDS: dict[str, list[Any]] = {
    "date": [pl.Date, pl.Datetime("ns"), pl.Datetime("ms"), pl.String, pl.Datetime("us")],
    "unit": LABELS,
    "cohort": LABELS,
    "click": MARKS,
    "like": MARKS,
    "count": [pl.Int8, pl.UInt16, pl.Float32, pl.String, pl.Decimal(10, 2), pl.Int64],
    "size": [*VALUES, pl.Float32, pl.Int16, pl.Decimal(10, 2)],
    "effort": [*VALUES, pl.Float32, pl.UInt8],
    "rain": [*VALUES, pl.Float32],
}
FORMS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "Polars": lambda table: table,
    "Polars, lazy": lambda table: table.lazy(),
    "Polars, in pieces": lambda table: pl.concat(list(table.iter_slices(5)), rechunk=False),
    "pandas": lambda table: table.to_pandas(),
    "pandas on Arrow": lambda table: table.to_pandas(use_pyarrow_extension_array=True),
    "PyArrow": lambda table: table.to_arrow(),
}
