"""Windows to choose on: cut from the tables of the arena so that none of its test days is forecast.

A rehearsal is a window of the arena's shape, moved through the years that a table covers. Test
days of the arena may be among the days that a rehearsal knows, never among those it forecasts.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path

import numpy as np

from dgd.arena.windows import FIRST_SHEET
from dgd.datasets import Dataset, complete_journey, flights, hotels, kuairand, online_retail
from dgd.datasets.windows import FLIGHT_WINDOWS, HOTEL_WINDOWS, JOURNEY_WINDOWS, Window
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
    arena = folder / "arena"
    loaders: dict[str, tuple[Callable[[Window], Dataset], list[Window]]] = {
        "Retail": (partial(online_retail, folder / FIRST_SHEET), list(_retail())),
        "Flights": (
            partial(flights, arena),
            _moved(date(2013, 1, 1), date(2013, 12, 31), 14, (28, 56, 14, 21), FLIGHT_WINDOWS),
        ),
        "Hotels": (
            partial(hotels, arena),
            _moved(date(2015, 7, 1), date(2017, 8, 31), 28, (28, 84, 14, 28), HOTEL_WINDOWS),
        ),
        "Baskets": (
            partial(complete_journey, arena / "complete_journey"),
            _moved(date(2017, 1, 1), date(2017, 12, 30), 21, (28, 84, 14, 28), JOURNEY_WINDOWS),
        ),
    }
    for source, (load, windows) in loaders.items():
        for window in windows:
            yield from _loaded(source, partial(load, window), tell)
    early = Window.of_days("2022-04-25", 2, 3, 2, 3, name="Videos")
    for first in range(0, 32, 8):
        users = range(first, first + 8)
        load_users = partial(kuairand, folder, early, users, "standard")
        yield from _loaded("Videos", load_users, tell)


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
    first: date,
    last: date,
    every: int,
    lengths: tuple[int, int, int, int],
    taken: Mapping[str, Window],
) -> list[Window]:
    """Windows of these lengths, one every so many days, whose test days are none of those taken."""
    found = []
    while first + timedelta(days=sum(lengths) - 1) <= last:
        window = Window.of_days(first, *lengths, name=f"from {first}")
        begin, end = window.parts["test"]
        tests = [other.parts["test"] for other in taken.values()]
        if all(end < other_begin or other_end < begin for other_begin, other_end in tests):
            found.append(window)
        first += timedelta(days=every)
    return found


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
