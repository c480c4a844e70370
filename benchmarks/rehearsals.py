"""Windows to choose on: cut from the tables of the arena so that none of its test days is forecast.

A rehearsal is a window of the arena's shape, moved through the years that a table covers. Test
days of the arena may be among the days that a rehearsal knows, never among those it forecasts.
Short rehearsals have the shape of the arena's short windows and begin on Mondays as these do.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path

import numpy as np

from dgd.arena.windows import FIRST_SHEET
from dgd.datasets import (
    Dataset,
    bakery,
    complete_journey,
    flights,
    hotels,
    kuairand,
    online_retail,
    police_stops,
)
from dgd.datasets.windows import (
    BAKERY_WINDOWS,
    FLIGHT_WINDOWS,
    HOTEL_WINDOWS,
    JOURNEY_WINDOWS,
    RETAIL_MONTHS,
    RETAIL_SHORT,
    RETAIL_WINDOWS,
    SHORT,
    STOP_WINDOWS,
    Window,
)
from dgd.errors import InputError
from dgd.panel.panel import Panel
from dgd.panel.split import Split

ONE_DAY = timedelta(days=1)
HALF_MONTH = timedelta(days=14)


@dataclass(frozen=True)
class Rehearsal:
    """A panel, its split, and where it was cut from."""

    source: str
    panel: Panel
    split: Split

    def origins(self, step: int) -> np.ndarray:
        """Days from which `step` days ahead can be scored."""
        return np.arange(self.split.validation_stop - 1, self.panel.days - step)


def rehearsals(folder: Path, tell: Callable[[str], None]) -> Iterator[Rehearsal]:
    """Every rehearsal that the files of the folder can fill."""
    for source, load, windows in cuts(folder):
        for window in windows:
            yield from _loaded(source, partial(load, window), tell)


def cuts(folder: Path) -> Iterator[tuple[str, Callable[[Window], Dataset], list[Window]]]:
    """Every source, how a window of it is read, and its windows; no file is opened."""
    arena = folder / "arena"

    retail = partial(online_retail, folder / FIRST_SHEET)
    shop = [*RETAIL_WINDOWS.values(), *RETAIL_MONTHS.values(), *RETAIL_SHORT.values()]
    yield "Retail", retail, _clear(_retail(), shop)
    moved = _moved(date(2010, 1, 4), date(2010, 12, 8), 28, SHORT)
    yield "Short retail", retail, _clear(moved, shop)

    departures = partial(flights, arena)
    moved = _moved(date(2013, 1, 1), date(2013, 12, 31), 14, (28, 56, 14, 21))
    yield "Flights", departures, _clear(moved, FLIGHT_WINDOWS.values())
    moved = _moved(date(2013, 1, 7), date(2013, 12, 31), 42, SHORT)
    yield "Short flights", departures, _clear(moved, FLIGHT_WINDOWS.values())

    bookings = partial(hotels, arena)
    moved = _moved(date(2015, 7, 1), date(2017, 8, 31), 28, (28, 84, 14, 28))
    yield "Hotels", bookings, _clear(moved, HOTEL_WINDOWS.values())
    moved = _moved(date(2015, 7, 6), date(2017, 8, 31), 140, SHORT)
    yield "Short hotels", bookings, _clear(moved, HOTEL_WINDOWS.values())

    baskets = partial(complete_journey, arena / "complete_journey")
    moved = _moved(date(2017, 1, 1), date(2017, 12, 30), 21, (28, 84, 14, 28))
    yield "Baskets", baskets, _clear(moved, JOURNEY_WINDOWS.values())

    stops = partial(police_stops, arena)
    moved = _moved(date(2017, 1, 1), date(2017, 12, 31), 21, (21, 70, 14, 28))
    yield "Stops", stops, _clear(moved, STOP_WINDOWS.values())
    moved = _moved(date(2017, 1, 2), date(2017, 12, 31), 49, SHORT)
    yield "Short stops", stops, _clear(moved, STOP_WINDOWS.values())

    # Before the arena's test days the bakery has 127 days, too few for a window of 147.
    moved = _moved(date(2016, 10, 30), date(2017, 4, 9), 14, (21, 42, 14, 21))
    yield "Bakery", partial(bakery, arena), _clear(moved, BAKERY_WINDOWS.values())

    early = Window.of_days("2022-04-25", 2, 3, 2, 3, name="Videos")
    for first in range(0, 32, 8):
        users = range(first, first + 8)
        yield "Videos", partial(kuairand, folder, buckets=users, log="standard"), [early]


def _loaded(
    source: str, load: Callable[[], Dataset], tell: Callable[[str], None]
) -> Iterator[Rehearsal]:
    try:
        dataset = load()
    except InputError as error:
        tell(f"a rehearsal of {source} is left out: {error}")
        return
    window, panel = dataset.window, dataset.panel
    split = Split.of(panel, window.train_end, window.validation_end, window.warmup_end)
    yield Rehearsal(source, panel, split)


def _moved(
    first: date, last: date, every: int, lengths: tuple[int, int, int, int]
) -> Iterator[Window]:
    """Windows of these lengths, one every so many days."""
    while first + timedelta(days=sum(lengths) - 1) <= last:
        yield Window.of_days(first, *lengths, name=f"from {first}")
        first += timedelta(days=every)


def _clear(windows: Iterable[Window], taken: Iterable[Window]) -> list[Window]:
    """Those windows whose test days are none of those taken."""
    tests = [other.parts["test"] for other in taken]

    def is_clear(window: Window) -> bool:
        begin, end = window.parts["test"]
        return all(end < other_begin or other_end < begin for other_begin, other_end in tests)

    return [window for window in windows if is_clear(window)]


def _retail() -> Iterator[Window]:
    """Second halves of the months between the arena's, and first halves of every month."""
    for month in (4, 6, 8, 10):
        start = date(2010, month, 1)
        yield Window(
            date(2010, month - 3, 1),
            date(2010, month - 2, 1) - ONE_DAY,
            start - ONE_DAY,
            start + HALF_MONTH - ONE_DAY,
            date(2010, month + 1, 1) - ONE_DAY,
            name=f"from {start + HALF_MONTH}",
        )
    for month in range(4, 13):
        start = date(2010, month, 1)
        first = max(date(2009, 12, 18), date(2010, month - 3, 1) - HALF_MONTH)
        yield Window(
            first,
            first + timedelta(days=29),
            start - HALF_MONTH - ONE_DAY,
            start - ONE_DAY,
            min(start + HALF_MONTH - ONE_DAY, date(2010, 12, 8)),
            name=f"from {start}",
        )
