"""Bars of training, one for every seed: by Rich in a terminal, as a small table in a notebook.

Rich would need ipywidgets to draw in a notebook; a display that is replaced needs nothing.
"""

import math
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from dgd.learning.loop import Progress as Told
from dgd.tables.html import escaped
from dgd.tables.showing import one_line

COMPILING = "compiling"
SECONDS_BETWEEN = 0.2
"""A notebook is sent its bars no more often."""


class Board(ABC):
    """Where bars are drawn."""

    @contextmanager
    def training(self, seeds: Sequence[int], epochs: int, model: str = "") -> Iterator[Told]:
        """A bar for every seed; yields what `fit(progress=...)` takes."""
        named = f"{model}, " if model else ""
        bars = {seed: self.added(f"{named}seed {seed}", epochs) for seed in seeds}
        furthest = dict.fromkeys(seeds, (0, math.inf))

        def tell(seed: int, done: int, best: float) -> None:
            # A seed may train from several starts side by side; the bar shows the best of them.
            if seed not in bars:
                return
            most, least = furthest[seed]
            furthest[seed] = most, least = max(most, done), min(least, best)
            self.moved(bars[seed], most, f"validation {least:.4f}")

        yield tell
        for bar in bars.values():
            self.finished(bar)

    @abstractmethod
    def added(self, label: str, epochs: int) -> Any:
        """A new bar."""

    @abstractmethod
    def moved(self, bar: Any, done: int, said: str) -> None:
        """Move a bar; called from the threads that train."""

    @abstractmethod
    def finished(self, bar: Any) -> None:
        """What was done is all there was to do."""


class Nowhere(Board):
    """Nothing is drawn."""

    def _nothing(self, *_: Any, **__: Any) -> None:
        return None

    added = moved = finished = _nothing


@dataclass(frozen=True)
class InTerminal(Board):
    """Lines that Rich draws again and again."""

    drawn: Progress

    def added(self, label: str, epochs: int) -> Any:
        self.drawn.start()
        return self.drawn.add_task(one_line(label), total=epochs, best=COMPILING)

    def moved(self, bar: Any, done: int, said: str) -> None:
        self.drawn.update(bar, completed=done, best=said)

    def finished(self, bar: Any) -> None:
        done = next(task.completed for task in self.drawn.tasks if task.id == bar)
        self.drawn.update(bar, total=max(1, int(done)))


@contextmanager
def bars_on(console: Console) -> Iterator[Board]:
    """Bars on a console, from the first one on; where that is no terminal, how they ended."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[best]}"),
        TimeElapsedColumn(),
    )
    # Standard output may be a file while errors go to a terminal: what is printed stays apart.
    drawn = Progress(*columns, console=console, redirect_stdout=False)
    try:
        yield InTerminal(drawn)
    finally:
        if drawn.live.is_started:
            drawn.stop()


@dataclass
class SeedBar:
    """One bar of a notebook."""

    label: str
    epochs: int
    done: int = 0
    said: str = COMPILING

    def html(self) -> str:
        bar = f'<progress value="{self.done}" max="{self.epochs}"></progress>'
        cells = (escaped(self.label), bar, f"{self.done}/{self.epochs}", escaped(self.said))
        return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


class InNotebook(Board):
    """A table that is shown once and then replaced."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self.show = show
        self.rows: list[SeedBar] = []
        self.drawn_at = -math.inf
        self.lock = threading.Lock()

    def added(self, label: str, epochs: int) -> SeedBar:
        row = SeedBar(label, epochs)
        self.rows.append(row)
        self.draw()
        return row

    def moved(self, bar: SeedBar, done: int, said: str) -> None:
        bar.done, bar.said = done, said
        if time.monotonic() - self.drawn_at > SECONDS_BETWEEN:
            self.draw()

    def finished(self, bar: SeedBar) -> None:
        bar.epochs = max(1, bar.done)
        self.draw()

    def draw(self) -> None:
        with self.lock:
            self.drawn_at = time.monotonic()
            self.show(f"<table>{''.join(row.html() for row in self.rows)}</table>")


def notebook_bars() -> Board:
    """Bars in the cell that is running."""
    ipython = import_module("IPython.display")
    shown: list[Any] = []

    def show(html: str) -> None:
        if shown:
            shown[0].update(ipython.HTML(html))
        else:
            shown.append(ipython.display(ipython.HTML(html), display_id=True))

    return InNotebook(show)


def in_notebook() -> bool:
    """Whether a kernel runs this; IPython at a terminal has none, and may not be installed."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def at_terminal() -> bool:
    """Whether somebody may be looking at standard error."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False
