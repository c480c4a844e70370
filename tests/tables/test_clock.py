"""A clock that cannot be right is refused when it is made, before any log is opened."""

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

import dgd
from support.refusals import refused

ZONE = "Europe/Berlin"


def test_a_clock_is_public_and_needs_a_column_alone() -> None:
    clock = dgd.Clock("day")
    assert (clock.column, clock.timezone, clock.stored_in, clock.time_unit) == ("day",) + 3 * (
        None,
    )


@pytest.mark.parametrize(
    "said",
    [
        {"timezone": ZONE},
        {"timezone": ZONE, "stored_in": "UTC"},
        {"timezone": ZONE, "stored_in": ZONE},
        {"timezone": "UTC", "stored_in": "UTC"},
        *({"timezone": ZONE, "time_unit": unit} for unit in ("s", "ms", "us", "ns")),
    ],
)
def test_whatever_a_log_may_need_can_be_said(said: dict[str, str]) -> None:
    clock = dgd.Clock("time", **said)
    assert {name: getattr(clock, name) for name in said} == said


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"timezone": "Asia/Shangai"}, ['timezone "Asia/Shangai"', "not a known time zone", "use"]),
        *(
            ({"timezone": zone}, [f'timezone "{zone}"', "not a known time zone"])
            for zone in ("", "*", "utc", "+02:00", "UTC'")
        ),
        ({"timezone": "\udcff"}, ["not a known time zone"]),
        (
            {"timezone": ZONE, "stored_in": "Berlin"},
            ['stored_in "Berlin"', "not a known time zone"],
        ),
        (
            {"timezone": ZONE, "stored_in": "Asia/Tokyo"},
            ['stored_in "Asia/Tokyo"', f'nor the timezone "{ZONE}"', "convert them to UTC"],
        ),
        (
            {"stored_in": "UTC"},
            ['stored_in "UTC"', "without timezone", 'timezone="Europe/Berlin"', "column time"],
        ),
        ({"timezone": ZONE, "time_unit": "hours"}, ['time_unit "hours"', "s, ms, us or ns"]),
    ],
)
def test_what_no_log_can_mean_is_refused_when_it_is_said(
    said: dict[str, Any], words: list[str]
) -> None:
    with refused(*words):
        dgd.Clock("time", **said)


def test_equal_clocks_are_interchangeable_and_never_change() -> None:
    clock = dgd.Clock("time", timezone=ZONE)
    assert clock == dgd.Clock("time", ZONE)
    assert hash(clock) == hash(dgd.Clock("time", ZONE))
    with pytest.raises(FrozenInstanceError):
        clock.timezone = "UTC"  # type: ignore[misc]
