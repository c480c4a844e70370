"""How training tells how far it is: by bars where they can be seen, or to a function of yours."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from dgd.errors import InputError
from dgd.learning.bars import Board, Nowhere, at_terminal, bars_on, in_notebook, notebook_bars
from dgd.learning.loop import Progress

_drawing = threading.Lock()
"""Held while bars are drawn: a fit within a fit, or beside one, has none of its own."""


def refuse_progress(progress: object) -> None:
    """Refuse what is neither a choice nor a function."""
    known = progress is None or isinstance(progress, (bool, Board)) or callable(progress)
    if not known:
        raise InputError(
            f"progress is {progress!r}; leave it out for a bar, give False for none, or a function "
            "that is told how far training is."
        )


@contextmanager
def board_of(progress: Callable[..., None] | Board | bool | None) -> Iterator[Board]:
    """Where `progress` wants bars: nowhere where it is False or a function, or nobody looks."""
    if isinstance(progress, Board):
        yield progress
        return
    unasked = progress is False or callable(progress)
    if unasked or not (in_notebook() or at_terminal()) or not _drawing.acquire(blocking=False):
        yield Nowhere()
        return
    try:
        if in_notebook():
            yield notebook_bars()
        else:
            with bars_on(Console(stderr=True)) as board:
                yield board
    finally:
        _drawing.release()


@contextmanager
def telling(
    progress: Progress | bool | None, seeds: Sequence[int], epochs: int
) -> Iterator[Progress]:
    """What training tells: the function given, or bars."""
    if callable(progress):
        yield progress
        return
    with board_of(progress) as board, board.training(seeds, epochs) as tell:
        yield tell


def silent(*_: Any) -> None:
    """What hears of progress and says nothing."""
