"""Rehearsals: windows to choose on, none of whose forecast days is a test day of the arena."""

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from dgd.datasets import (
    BAKERY_WINDOWS,
    FLIGHT_WINDOWS,
    HOTEL_WINDOWS,
    JOURNEY_WINDOWS,
    KUAIRAND_WINDOWS,
    RETAIL_MONTHS,
    RETAIL_SHORT,
    RETAIL_WINDOWS,
    STOP_WINDOWS,
    Window,
)
from rehearsals import cuts, rehearsals
from support.real_data import real_data

RETAIL = (*RETAIL_WINDOWS.values(), *RETAIL_MONTHS.values(), *RETAIL_SHORT.values())
ARENA = {
    "Retail": RETAIL,
    "Short retail": RETAIL,
    "Flights": FLIGHT_WINDOWS.values(),
    "Short flights": FLIGHT_WINDOWS.values(),
    "Hotels": HOTEL_WINDOWS.values(),
    "Short hotels": HOTEL_WINDOWS.values(),
    "Baskets": JOURNEY_WINDOWS.values(),
    "Stops": STOP_WINDOWS.values(),
    "Short stops": STOP_WINDOWS.values(),
    "Bakery": BAKERY_WINDOWS.values(),
    "Videos": [KUAIRAND_WINDOWS["late"]],
}
"""The windows of the arena that are cut from the same table as the rehearsals of a source."""
CUT = [(source, window) for source, _, windows in cuts(Path()) for window in windows]


def days_tested(window: Window) -> Iterator[date]:
    day, last = window.parts["test"]
    while day <= last:
        yield day
        day += timedelta(days=1)


def test_no_rehearsal_forecasts_a_test_day_of_the_arena() -> None:
    for source, window in CUT:
        arena = {day for taken in ARENA[source] for day in days_tested(taken)}
        assert arena.isdisjoint(days_tested(window)), f"{source} {window.name}"


def test_every_source_has_several_rehearsals() -> None:
    counted = Counter(source for source, _ in CUT)
    assert counted.keys() == ARENA.keys()
    assert min(counted.values()) >= 3


@pytest.mark.parametrize("source", [source for source in ARENA if source.startswith("Short")])
def test_short_rehearsals_have_the_shape_of_short_windows(source: str) -> None:
    windows = [window for of, window in CUT if of == source]
    assert 4 <= len(windows) <= 6
    for window in windows:
        lengths = [(last - first).days + 1 for first, last in window.parts.values()]
        assert lengths == [5, 10, 6, 10]
        assert window.warmup_start.strftime("%A") == "Monday"


def test_a_source_without_files_is_left_out_with_a_word(tmp_path: Path) -> None:
    told: list[str] = []
    assert list(rehearsals(tmp_path, told.append)) == []
    assert len(told) == len(CUT)
    assert all("a rehearsal of " in said for said in told)


@pytest.mark.slow
def test_the_published_files_fill_every_rehearsal() -> None:
    told: list[str] = []
    found = Counter(one.source for one in rehearsals(real_data("arena"), told.append))
    assert told == []
    assert found == Counter(source for source, _ in CUT)
