"""How effort may be spent: bounds of every cell, and sums that may not be exceeded.

Every sum is a limit from above (the whole budget, a day's, a unit's), so lowering a cell towards
its lower bound never breaks one, and a plan exists exactly if the lower bounds fit.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from dgd.errors import InputError

HALVINGS = 80
ROUNDING = 1e-9
"""Relative slack with which sums are compared."""


@dataclass(frozen=True, eq=False)
class Spending:
    """Bounds of effort in every cell of the days ahead, and limits of its sums."""

    low: Float[np.ndarray, "step unit cohort"]
    high: Float[np.ndarray, "step unit cohort"]
    budget: float
    days: Float[np.ndarray, " step"]
    """What a day may take, infinity where nothing limits it."""
    units: Float[np.ndarray, " unit"]

    @property
    def free(self) -> Bool[np.ndarray, "step unit cohort"]:
        """Cells whose effort can be chosen."""
        return self.high > self.low

    @cached_property
    def limits(self) -> Float[np.ndarray, " sum"]:
        """The budget, then the finite limits of days and of units."""
        finite = [caps[np.isfinite(caps)] for caps in (self.days, self.units)]
        return np.concatenate([[self.budget], *finite])

    @cached_property
    def members(self) -> Float[np.ndarray, "sum cell"]:
        """1 where a cell is part of a sum; cells in the order of a raveled grid."""
        step, unit, _ = np.indices(self.low.shape)
        rows = [np.ones(self.low.size)]
        rows += [(step == at).ravel() for at in np.flatnonzero(np.isfinite(self.days))]
        rows += [(unit == at).ravel() for at in np.flatnonzero(np.isfinite(self.units))]
        return np.stack(rows).astype(np.float64)

    def refuse_impossible(self, dates: np.ndarray, units: tuple[object, ...]) -> None:
        """Refuse limits that the lower bounds alone go beyond."""
        least = float(self.low.sum())
        if least > self.budget * (1 + ROUNDING):
            raise InputError(
                f"budget is {self.budget:g}, but lower bounds and fixed cells alone take "
                f"{least:g}; raise the budget or lower the bounds."
            )
        for name, labels, caps, taken in (
            ("per_day", dates, self.days, self.low.sum((1, 2))),
            ("per_unit", units, self.units, self.low.sum((0, 2))),
        ):
            beyond = np.flatnonzero(taken > caps * (1 + ROUNDING))
            if len(beyond):
                at = beyond[0]
                raise InputError(
                    f"{name} allows {caps[at]:g} for {labels[at]}, but lower bounds and fixed "
                    f"cells there take {taken[at]:g}; raise the limit or lower the bounds."
                )

    def shaped(self, target: Float[np.ndarray, "step unit cohort"]) -> np.ndarray:
        """As much effort as is allowed, in proportion to `target` as far as bounds let it.

        All cells rise together with their targets; where a sum is full its cells stay, and the
        others rise on.
        """
        flat, low, high = target.ravel(), self.low.ravel(), self.high.ravel()
        most = _reaching(flat, high)
        scale = np.zeros(len(flat))
        rising = flat > 0
        while rising.any():
            step = _highest(self, flat, scale, rising, most)
            scale[rising] = step
            effort = np.clip(scale * flat, low, high)
            full = self.members @ effort >= self.limits * (1 - ROUNDING)
            held = (self.members[full] > 0).any(0)
            if step >= most or not (held & rising).any():
                break
            rising &= ~held
        return self.lowered(np.clip(scale * flat, low, high).reshape(self.low.shape))

    def lowered(self, effort: np.ndarray) -> Float[np.ndarray, "step unit cohort"]:
        """The same effort within bounds, cells of overfull sums drawn to their lower bounds."""
        low = self.low.ravel()
        found = np.clip(effort, self.low, self.high).ravel()
        for member, limit in zip(self.members > 0, self.limits, strict=True):
            total, least = found[member].sum(), low[member].sum()
            if total > limit and total > least:
                share = max(limit - least, 0.0) / (total - least)
                found[member] = low[member] + share * (found[member] - low[member])
        return found.reshape(self.low.shape)

    def holds(self, effort: np.ndarray, slack: float = 1e-6) -> bool:
        """Whether bounds and limits are kept, but for a relative slack."""
        within = (effort >= self.low - slack * (1 + self.low)).all() and (
            effort <= self.high + slack * (1 + self.high)
        ).all()
        return bool(within and (self.members @ effort.ravel() <= self.limits * (1 + slack)).all())


def _reaching(target: np.ndarray, high: np.ndarray) -> float:
    """The scale at which every cell has reached its upper bound."""
    some = target > 0
    return float((high[some] / target[some]).max(initial=0.0))


def _highest(
    spending: Spending, target: np.ndarray, scale: np.ndarray, rising: np.ndarray, most: float
) -> float:
    """The largest common scale of the rising cells that no sum forbids."""

    def fits(common: float) -> bool:
        tried = np.where(rising, common, scale)
        effort = np.clip(tried * target, spending.low.ravel(), spending.high.ravel())
        return bool((spending.members @ effort <= spending.limits).all())

    if fits(most):
        return most
    below, above = float(scale[rising].max()), most
    for _ in range(HALVINGS):
        middle = 0.5 * (below + above)
        below, above = (middle, above) if fits(middle) else (below, middle)
    return below
