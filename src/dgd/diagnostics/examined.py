"""One thing that was looked at: its table, what it is held against, and what to read with care."""

from typing import NamedTuple

import polars as pl

CARE = {"warning": pl.String, "where": pl.String, "value": pl.Float64, "advice": pl.String}
"""Columns of warnings about a fit of demand."""
SUMMARY = {"check": pl.String, "found": pl.Float64, "bound": pl.Float64, "holds": pl.Boolean}


class HeldAgainst(NamedTuple):
    """A figure beside its bound, and whether it holds; figures without a bound are told only."""

    check: str
    found: float
    bound: float | None = None
    holds: bool | None = None


class Care(NamedTuple):
    """A warning: what it is, where it applies, what was found, and what to do."""

    warning: str
    where: str
    value: float | None
    advice: str


class Examined(NamedTuple):
    """What was looked at, under the title people read."""

    title: str
    table: pl.DataFrame
    held: tuple[HeldAgainst, ...] = ()
    care: tuple[Care, ...] = ()
