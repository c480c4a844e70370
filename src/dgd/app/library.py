"""What is open in the app: tables, readings of them, models and results, shared by all tabs.

Everything goes by a random name. Models stay until the app ends; of tables, readings and
results the oldest go when there are many.
"""

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import polars as pl

from dgd.errors import InputError
from dgd.panel.exploration.exploring import Exploration
from dgd.panel.panel import Panel

MOST_TABLES, MOST_READINGS, MOST_RESULTS = 60, 30, 600
ANYTHING = 1_000_000


@dataclass(frozen=True, eq=False)
class OpenTable:
    """A table as its file has it."""

    name: str
    frame: pl.DataFrame


@dataclass(frozen=True, eq=False)
class Reading:
    """A table read as a panel, and all that it takes to read it again."""

    name: str
    frames: Mapping[str, pl.DataFrame]
    """The counts, and where they were given sizes, effort, features and special days."""
    columns: Mapping[str, Any]
    """The other arguments of `Panel.from_counts`."""
    panel: Panel

    @cached_property
    def exploration(self) -> Exploration:
        return self.panel.explore()


@dataclass(frozen=True, eq=False)
class KeptScenario:
    """A scenario to compare others with."""

    mark: str
    """What no other one has."""
    name: str
    words: str
    """What it changes."""
    comparison: Any


@dataclass(frozen=True, eq=False)
class OpenModel:
    """A fit and the file it can be downloaded as."""

    name: str
    file: Path
    fit: Any
    warnings: tuple[str, ...] = ()
    kept: dict[str, KeptScenario] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    """Pages that were made of it, to be downloaded."""
    known: dict[int, Any] = field(default_factory=dict)
    """The same fit with effort and features known for so many days ahead."""


@dataclass(frozen=True, eq=False)
class Result:
    """A table as it is shown, to be downloaded."""

    name: str
    table: pl.DataFrame


Kept = TypeVar("Kept")


class Shelf(Generic[Kept]):
    """Things by random names; beyond `most` the oldest are forgotten."""

    def __init__(self, what: str, most: int = ANYTHING) -> None:
        self.what = what
        self.most = most
        self._things: dict[str, Kept] = {}
        self._lock = threading.Lock()

    def put(self, thing: Kept) -> str:
        name = secrets.token_urlsafe(9)
        with self._lock:
            self._things[name] = thing
            while len(self._things) > self.most:
                del self._things[next(iter(self._things))]
        return name

    def get(self, name: str) -> Kept:
        with self._lock:
            if name in self._things:
                return self._things[name]
        raise InputError(f"this {self.what} is no longer open here; open it again from the start.")

    def items(self) -> list[tuple[str, Kept]]:
        """What there is, the newest first."""
        with self._lock:
            return list(reversed(self._things.items()))


class Library:
    """Everything that is open."""

    def __init__(self) -> None:
        self.tables: Shelf[OpenTable] = Shelf("table", MOST_TABLES)
        self.readings: Shelf[Reading] = Shelf("table", MOST_READINGS)
        self.models: Shelf[OpenModel] = Shelf("model")
        self.results: Shelf[Result] = Shelf("result", MOST_RESULTS)
