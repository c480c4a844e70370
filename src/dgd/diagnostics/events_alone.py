"""Events told one by one, as many as memory has room for however many arrive."""

from typing import NamedTuple

import numpy as np

from dgd.panel.contexts import EventCounts

MOST_ALONE = 50_000
"""Events that stand alone; the gradient needs about two kilobytes for each."""


EACH = "one by one"


class ToldEvents(NamedTuple):
    """All events of a panel: some one by one, the others still counted together."""

    events: EventCounts
    alone: int
    """How many events are a group of their own."""
    all: int

    @property
    def form(self) -> str:
        """What a report calls it."""
        if self.alone == self.all:
            return EACH
        return f"{self.alone:,} of {self.all:,} {EACH}"


def told_one_by_one(cells: EventCounts, most: int = MOST_ALONE) -> ToldEvents:
    """Every event of `cells` alone, or `most` of them spread evenly over all.

    The others stay in the group of their cell, so that whatever is summed over all
    events has the same sum.
    """
    counted = int(cells.patterns.sum())
    if counted <= most:
        return ToldEvents(cells.one_by_one(), counted, counted)
    ends = np.cumsum(cells.patterns, dtype=np.int64)
    # Event e is alone where the share e / counted of the places passes a whole number.
    chosen = np.diff(ends * most // counted, prepend=0).reshape(cells.patterns.shape)
    alone = _with_patterns(cells, chosen).one_by_one()
    rest = _with_patterns(cells, cells.patterns - chosen)
    return ToldEvents(_together(alone, rest), most, counted)


def _with_patterns(cells: EventCounts, patterns: np.ndarray) -> EventCounts:
    """The groups of `cells` that still have an event, with other counts."""
    kept = patterns.sum(-1) > 0
    return EventCounts(cells.names, cells.cell[kept], cells.context[kept], patterns[kept])


def _together(one: EventCounts, other: EventCounts) -> EventCounts:
    """The groups of both, in the order of their cells."""
    cell = np.concatenate([one.cell, other.cell])
    order = np.lexsort(cell.T[::-1])
    return EventCounts(
        one.names,
        cell[order],
        np.concatenate([one.context, other.context])[order],
        np.concatenate([one.patterns, other.patterns])[order],
    )
