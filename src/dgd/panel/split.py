"""Which days warm up, train and validate."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dgd.errors import InputError
from dgd.files import declared
from dgd.panel.panel import Panel
from dgd.tables.periods import Moment


@dataclass(frozen=True)
class Split:
    """Day numbers within a panel: each range ends before the next begins.

    The model's sequence starts with the first training day, in the zero state.
    """

    first: int
    """The first training day; the days before it warm up."""
    train_stop: int
    validation_stop: int

    @staticmethod
    def of(
        panel: Panel, train_end: Moment, validation_end: Moment, warmup_end: Moment | None
    ) -> "Split":
        """Read the last day of each range, given as dates; later days are for testing."""
        if not isinstance(panel, Panel):
            raise InputError(
                f"a {type(panel).__name__} was handed over where a panel is needed; make one with "
                "dgd.Panel.from_counts(table, behaviors=[...])."
            )
        first = 0 if warmup_end is None else panel.index(warmup_end, "warmup_end") + 1
        train_stop = panel.index(train_end, "train_end") + 1
        validation_stop = panel.index(validation_end, "validation_end") + 1
        if train_stop >= validation_stop:
            raise InputError(
                f"train_end {train_end} is not before validation_end {validation_end}; "
                "validation needs at least one day after training."
            )
        if first >= train_stop:
            raise InputError(
                f"warmup_end {warmup_end} is not before train_end {train_end}; "
                "training needs at least one day after the warm-up."
            )
        arrivals = panel.together.arrivals
        if arrivals[first:train_stop].sum() == 0:
            raise InputError(
                f"no arrivals from {panel.dates[first]} to {train_end}; "
                "choose a training range with counts in it."
            )
        if arrivals[: first or train_stop].sum() == 0:
            raise InputError(
                f"no arrivals up to warmup_end {warmup_end}; "
                "choose a warm-up with counts in it or leave warmup_end out."
            )
        return Split(first, train_stop, validation_stop)

    @staticmethod
    def restored(facts: dict[str, Any], panel: Panel) -> "Split":
        """The split that a file keeps as a table of its fields."""
        first = declared.whole(facts, "first", 0, panel.days - 2)
        train_stop = declared.whole(facts, "train_stop", first + 1, panel.days - 1)
        return Split(
            first,
            train_stop,
            declared.whole(facts, "validation_stop", train_stop + 1, panel.days),
        )

    @property
    def train(self) -> slice:
        return slice(self.first, self.train_stop)

    @property
    def warmup(self) -> slice:
        """The days that set baselines: the warm-up, or the training days where there is none."""
        return slice(0, self.first) if self.first else self.train

    def show(self, panel: Panel) -> dict[str, str]:
        """First and last date of every range, for reports."""

        def ends(start: int, stop: int) -> str:
            if start >= stop:
                return "none"
            return f"{panel.dates[start]} to {panel.dates[stop - 1]}"

        return {
            "warm-up": ends(0, self.first),
            "training": ends(self.first, self.train_stop),
            "validation": ends(self.train_stop, self.validation_stop),
            "test": ends(self.validation_stop, panel.days),
        }


def mean_per_period(counts: np.ndarray, days: slice) -> np.ndarray:
    return np.asarray(counts[days].mean(0), dtype=np.float64)
