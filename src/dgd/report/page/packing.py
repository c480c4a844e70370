"""Rows as a page keeps them: column by column, repeated texts once, numbers as far as they show.

A chart's rows in Vega-Lite's own form repeat every column's name in every row; packed they take a
fifth of that. `draw.js` unpacks them.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from dgd.report.charts.drawable import drawable

DRAWN, ADDED = 4, 6
"""Significant figures of numbers that are drawn, and of those that a page adds up."""
MOMENT = "%Y-%m-%dT%H:%M:%S"


def packed_table(table: pl.DataFrame) -> dict[str, Any]:
    """A table; its dates and times become dates again on the page."""
    found: dict[str, Any] = {}
    for column in table:
        if column.dtype.is_temporal():
            texts = column.cast(pl.Datetime("ms")).dt.strftime(MOMENT)
            found[column.name] = {"moments": True, **_coded(texts.to_list())}
        else:
            found[column.name] = _packed(column.to_list(), ADDED)
    return found


def packed_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The rows of a chart, which may lack columns that others have."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _packed([row.get(name) for row in rows], DRAWN) for name in names}


def _packed(values: Sequence[Any], figures: int) -> dict[str, Any]:
    if any(isinstance(value, str) for value in values):
        return _coded(values)
    return {"values": drawable([_short(value, figures) for value in values])}


def _coded(values: Sequence[Any]) -> dict[str, Any]:
    """The different texts, and for every row which of them it has; `None` is one of them."""
    texts = list(dict.fromkeys(values))
    number = {text: at for at, text in enumerate(texts)}
    return {"texts": drawable(texts), "values": [number[value] for value in values]}


def _short(value: Any, figures: int) -> Any:
    """A number as far as it matters; a truth value as 1 or 0."""
    if isinstance(value, bool):
        return int(value)
    rounded = float(f"{value:.{figures}g}") if isinstance(value, float) else value
    # whole numbers are written without a point
    whole = isinstance(rounded, float) and math.isfinite(rounded) and rounded == int(rounded)
    return int(rounded) if whole else rounded
