"""Columns of numbers as people read them side by side."""

import math

import polars as pl


def four_figures(*columns: pl.Series) -> list[pl.Series]:
    """Numbers of columns that are read together, to four figures of the largest and right-aligned;
    what is far smaller is next to nothing."""
    known = [abs(x) for column in columns for x in column if x is not None and math.isfinite(x)]
    largest = max(known, default=0.0)
    decimals = max(0, min(12, 3 - math.floor(math.log10(largest)))) if largest > 0 else 0
    shown = [[_rounded(value, decimals) for value in column] for column in columns]
    width = max((len(text) for column in shown for text in column), default=0)
    return [
        pl.Series(column.name, [text.rjust(width) for text in texts], pl.String)
        for column, texts in zip(columns, shown, strict=True)
    ]


def _rounded(value: float | None, decimals: int) -> str:
    if value is None or not math.isfinite(value):
        return ""
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


def ends_in_words(low: pl.Series, high: pl.Series) -> list[str]:
    """Every range as "12.5 to 20.1"; empty where one of its ends is missing."""
    lows, highs = ([text.strip() for text in end] for end in four_figures(low, high))
    return [f"{a} to {b}" if a and b else "" for a, b in zip(lows, highs, strict=True)]
