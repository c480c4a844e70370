"""When and where markets are: the labels of their periods and places."""

from collections.abc import Sequence
from typing import NamedTuple

from dgd.choice.markets import Markets
from dgd.errors import InputError
from dgd.tables.labels import Label

ONE_PLACE = ""
"""The label of the one place that all markets are in where no column says which."""


class PlaceAndPeriod(NamedTuple):
    """The place and the period of every market."""

    places: tuple[Label, ...]
    periods: tuple[Label, ...]
    place_labels: tuple[Label, ...]
    """Every place there is, in the order the table named them."""

    @staticmethod
    def of(markets: Markets) -> "PlaceAndPeriod":
        period, place = markets.columns.period, markets.columns.place
        if period is None:
            raise InputError(
                "the markets have no period; name its column when they are made: "
                'Markets.from_table(..., period="week").'
            )
        marks = markets.marks[period]
        periods = tuple(marks.labels[code] for code in marks.of_market)
        if place is None:
            return PlaceAndPeriod((ONE_PLACE,) * len(periods), periods, (ONE_PLACE,))
        marks = markets.marks[place]
        places = tuple(marks.labels[code] for code in marks.of_market)
        return PlaceAndPeriod(places, periods, marks.labels)

    @property
    def cells(self) -> list[tuple[Label, Label]]:
        """Place and period of every market."""
        return list(zip(self.places, self.periods, strict=True))


def ordered_periods(parts: Sequence[PlaceAndPeriod]) -> dict[Label, int]:
    """Every period that any of the parts names, and its step: 0, 1, 2, ... in their order."""
    labels = {label for part in parts for label in part.periods}
    numbers = {label for label in labels if isinstance(label, int)}
    if numbers and numbers != labels:
        text = next(iter(labels - numbers))
        raise InputError(
            f"some periods are whole numbers like {min(numbers)} and some are texts like {text!r}, "
            "which have no common order; write all of them the same way."
        )
    return {label: step for step, label in enumerate(sorted(labels, key=_order))}


def _order(label: Label) -> tuple[int, str]:
    return (label, "") if isinstance(label, int) else (0, label)
