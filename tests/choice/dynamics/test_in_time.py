"""Validation is always later than training."""

import pytest

from dgd.choice.dynamics.in_time import divided_in_time
from dgd.errors import InputError
from support.moving_choice import weekly, weekly_table


def weeks(markets) -> set[int]:
    marks = markets.marks["week"]
    return {marks.labels[code] for code in marks.of_market}


@pytest.mark.parametrize(
    ("fraction", "held_out"), [(0.01, {12}), (0.4, {11, 12}), (0.99, {10, 11, 12})]
)
def test_a_fraction_holds_out_the_last_periods(fraction: float, held_out: set[int]):
    training, late = divided_in_time(weekly(), fraction)
    assert weeks(late) == held_out
    assert weeks(training) == {8, 9, 10, 11, 12} - held_out
    assert len(training.markets) + len(late.markets) == len(weekly().markets)


def test_named_markets_must_be_all_of_the_last_periods():
    last = [f"{place} {week}" for week in (11, 12) for place in ("north", "south", "east")]
    training, late = divided_in_time(weekly(), last)
    assert weeks(late) == {11, 12}
    assert weeks(training) == {8, 9, 10}
    with pytest.raises(InputError, match="leaves out market 'south 12', which is not earlier"):
        divided_in_time(weekly(), ["north 12", "east 12"])
    early = [label for label in weekly().markets if label not in ("north 8", "south 8")]
    with pytest.raises(InputError, match="leaves 1 periods to train on; leave at least 2"):
        divided_in_time(weekly(), early)


def test_too_few_periods_and_fractions_that_are_none_are_refused():
    with pytest.raises(InputError, match="validation is 1; a fraction lies between 0 and 1"):
        divided_in_time(weekly(), 1.0)
    two = weekly(weekly_table().filter(weekly_table()["week"] > 10))
    with pytest.raises(InputError, match="have 2 periods; dynamics need at least 3"):
        divided_in_time(two, 0.5)
