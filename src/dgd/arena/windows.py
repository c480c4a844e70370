"""Where the arena is held: every window that the files of a folder can fill."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

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
from dgd.datasets.sources import data_folder
from dgd.datasets.windows import (
    BAKERY_WINDOWS,
    FLIGHT_WINDOWS,
    HOTEL_WINDOWS,
    RETAIL_MONTHS,
    RETAIL_SHORT,
    STOP_WINDOWS,
    Window,
)
from dgd.errors import InputError
from dgd.paper.windows import RETAIL, Tell

FIRST_SHEET = Path("arena", "online_retail_II_2009_2010.parquet")
"""The first sheet of the Online Retail workbook, whole, for windows beside the paper's own."""


def _first_sheet(folder: Path, window: Window) -> Dataset:
    """Read from the first sheet alone where it is there, else from whatever the folder holds."""
    first_sheet = folder / FIRST_SHEET
    return online_retail(first_sheet if first_sheet.is_file() else folder, window)


LOADERS: dict[str, Callable[[Path], Dataset]] = {
    **{name: partial(online_retail, window=year) for name, year in RETAIL.items()},
    **{
        window.name: partial(_first_sheet, window=window)
        for window in (*RETAIL_MONTHS.values(), *RETAIL_SHORT.values())
    },
    **{window.name: partial(flights, window=name) for name, window in FLIGHT_WINDOWS.items()},
    **{window.name: partial(hotels, window=name) for name, window in HOTEL_WINDOWS.items()},
    "Complete Journey": complete_journey,
    **{window.name: partial(police_stops, window=name) for name, window in STOP_WINDOWS.items()},
    **{window.name: partial(bakery, window=name) for name, window in BAKERY_WINDOWS.items()},
    "KuaiRand late": partial(kuairand, window="late"),
}
"""Every window by the name its rows carry."""


def checked_names(names: Sequence[str] | None) -> tuple[str, ...]:
    """The windows asked for, all of them where none is named."""
    for name in names or ():
        if name not in LOADERS:
            raise InputError(f'window "{name}" is not known; choose among {", ".join(LOADERS)}.')
    return tuple(names or LOADERS)


def windows_in(
    folder: Path | None, names: Sequence[str], tell: Tell
) -> Iterator[tuple[str, Dataset]]:
    """Each window whose files are there and whole; `tell` hears of the others, and why."""
    place = data_folder(folder)
    for name in names:
        try:
            dataset = LOADERS[name](place)
        except InputError as error:
            tell(f"{name} is left out: {error}")
        else:
            yield name, dataset
