"""Distributions of futures: counts drawn by the same chance, added up and cut at levels.

Parameters are drawn too, so that what the counts leave open about them widens the ranges.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from dgd.errors import InputError
from dgd.model.bits import behavior_bits
from dgd.runtime import computing
from dgd.scenarios.expecting import Expecting, one_by_one
from dgd.scenarios.future import Future
from dgd.scenarios.planned_fit import DrawingFit

PARAMETER_DRAWS = 32
MOST_PATHS = 100_000


@dataclass(frozen=True, eq=False)
class DrawnSeries:
    """Arrivals and behaviours on every path, as far as tables need them."""

    by_date: Float[np.ndarray, "path date series"]
    by_cell: Float[np.ndarray, "path unit cohort series"]

    @staticmethod
    def of(
        counts: Int[np.ndarray, "path date unit cohort pattern"], behaviors: int
    ) -> "DrawnSeries":
        bits = behavior_bits(behaviors).astype(np.float64)
        shown = np.concatenate([np.ones((len(bits), 1)), bits], 1)
        # sums first: the paths of all cells and days at once are the largest array there is
        return DrawnSeries(counts.sum((2, 3)) @ shown, counts.sum(1) @ shown)

    def less(self, other: "DrawnSeries") -> "DrawnSeries":
        """The difference on every path."""
        return DrawnSeries(self.by_date - other.by_date, self.by_cell - other.by_cell)


@dataclass(frozen=True, eq=False)
class DrawnFutures:
    """Two futures and what lies between them."""

    baseline: DrawnSeries
    changed: DrawnSeries

    @property
    def difference(self) -> DrawnSeries:
        return self.changed.less(self.baseline)


def draw_both(
    fit: DrawingFit, expecting: Expecting, changed: Future, paths: int, seed: int
) -> DrawnFutures:
    """Draw `paths` paths of the future as planned and of the changed one."""
    outlook, of = expecting.outlook, expecting.drawn(fit, PARAMETER_DRAWS, seed)
    with computing():
        futures = [one_by_one(of.inputs(future)) for future in (outlook.planned, changed)]
    drawn = fit.draw_futures(futures, outlook.day, outlook.panel, paths, seed, of.crowds, of.firsts)
    behaviors = len(outlook.panel.behaviors)
    return DrawnFutures(*(DrawnSeries.of(counts, behaviors) for counts in drawn))


def ends_of_levels(
    values: Float[np.ndarray, "path ..."], levels: Sequence[float]
) -> dict[str, Float[np.ndarray, "..."]]:
    """The low and the high end of every level, by the name of its column."""
    found = {}
    for level in levels:
        for end, share in (("low", 50 - level / 2), ("high", 50 + level / 2)):
            found[f"{end}_{level:g}"] = np.quantile(values, share / 100, axis=0)
    return found


def refuse_paths(paths: int) -> None:
    if isinstance(paths, bool) or not isinstance(paths, (int, np.integer)):
        raise InputError(f"paths is {paths!r}; give a whole number.")
    if not 0 <= paths <= MOST_PATHS:
        raise InputError(
            f"paths is {paths}; draw from 1 to {MOST_PATHS:,}, or 0 for expected numbers alone."
        )
