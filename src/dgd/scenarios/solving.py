r"""The best way to spend effort, from several starts, by a solver for constrained problems.

Effort is measured in cells of the even spread and worth in that of the even spread, so that the
solver sees numbers near one: unscaled, solvers stop where they began. It sees roots of effort,
for contact often rises like a root and has no finite slope at nothing. Before it starts, effort
goes where its slope is,

.. math:: e \leftarrow e\, (\partial J / \partial e)^\gamma, \text{ scaled to the budget,}

for as long as that helps: where nothing is carried from day to day this finds the best by itself,
in a tenth of the time. Starts are candidates too, so the result is never worse than any of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog, minimize

from dgd.errors import first_line
from dgd.scenarios.spending import Spending

Worth: TypeAlias = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""The worth of an effort [step, unit, cohort], and its slope."""
MANY = 300
"""Free cells beyond which steps towards corners are taken, for SLSQP solves a dense system of all
of them at every step."""
STEPS, STEPS_OF_MANY = 150, 40
PARTS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.001)
"""Of the way to a corner, tried at every step."""
ENOUGH = 1e-4
PRECISION = 1e-8
FLOOR = 1e-7
"""Of the even spread: the slope of contact at no effort at all may be infinite."""
RISES, LEAST_RISE = 100, 1e-8
LEAST_POWER = 1 / 16
WEAKEST = 1e-3
"""Slopes are taken for at least such a part of the strongest: a cell that is worth nothing now may
be worth something later."""


@dataclass(frozen=True, eq=False)
class SolvedStart:
    """What one start led to."""

    name: str
    effort: Float[np.ndarray, "step unit cohort"]
    started: float
    """The worth of the start itself."""
    worth: float
    status: int
    message: str
    steps: int


def solved_starts(
    worth: Worth, spending: Spending, even: np.ndarray, starts: Mapping[str, np.ndarray]
) -> list[SolvedStart]:
    """Solve from every start; each result keeps all bounds and limits."""
    problem = _Problem(worth, spending, even)
    return [problem.solved(name, start) for name, start in starts.items()]


def greedy(spending: Spending, slope: np.ndarray) -> np.ndarray | None:
    """All effort where a little of it is worth most; `None` where the slope is no number."""
    free = spending.free.ravel()
    if not np.isfinite(slope).all():
        return None
    found = linprog(
        -slope.ravel()[free] / max(np.abs(slope).max(), np.finfo(float).tiny),
        A_ub=spending.members[:, free],
        b_ub=spending.limits - spending.members[:, ~free] @ spending.low.ravel()[~free],
        bounds=np.stack([spending.low.ravel()[free], spending.high.ravel()[free]], 1),
    )
    if found.x is None:
        return None
    effort = spending.low.ravel().copy()
    effort[free] = found.x
    return spending.lowered(effort.reshape(spending.low.shape))


class _Problem:
    """Roots of the effort of free cells as a vector near one, worth near minus one."""

    def __init__(self, worth: Worth, spending: Spending, even: np.ndarray) -> None:
        self._worth, self._spending = worth, spending
        self._free = spending.free.ravel()
        self._shape = spending.low.shape
        self._unit = max(float(even.ravel()[self._free].mean()), np.finfo(float).tiny)
        self._scale = abs(worth(even)[0]) or 1.0
        low, high = (x.ravel()[self._free] for x in (spending.low, spending.high))
        # the floor is for the slope's sake; where a cell may have less, it gets it afterwards
        low = np.minimum(np.maximum(low, FLOOR * self._unit), high)
        self._low, self._high = self._of_effort(low), self._of_effort(high)
        taken = spending.members[:, ~self._free] @ spending.low.ravel()[~self._free]
        rows = np.maximum(spending.limits - taken, 0.0) / self._unit
        size = np.maximum(rows, 1.0)
        self._rows = spending.members[:, self._free] / size[:, None]
        self._limits = rows / size

    def solved(self, name: str, start: np.ndarray) -> SolvedStart:
        started, _ = self._worth(start)
        risen = self._risen(start, started)
        if int(self._free.sum()) > MANY:
            return self._towards_corners(name, started, risen)
        free = risen.ravel()[self._free]
        first = np.clip(self._of_effort(free), self._low, self._high)
        found = minimize(
            self._loss,
            first,
            jac=True,
            bounds=np.stack([self._low, self._high], 1),
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda x: self._limits - self._rows @ x**2,
                "jac": lambda x: -2 * self._rows * x,
            },
            options={"maxiter": STEPS, "ftol": PRECISION},
        )
        candidates = [(started, start), (self._worth(risen)[0], risen)]
        if np.isfinite(found.x).all():
            candidates += [(self._worth(e)[0], e) for e in self._efforts(found.x)]
        best, effort = max(candidates, key=lambda pair: pair[0])
        steps = int(getattr(found, "nit", 0))
        message = first_line(RuntimeError(str(found.message)))
        return SolvedStart(name, effort, started, best, int(found.status), message, steps)

    def _risen(self, start: np.ndarray, started: float) -> np.ndarray:
        """Effort moved to where its slope is, for as long as its worth rises."""
        effort, value, power = start, started, 1.0
        slope = self._worth(start)[1]
        for _ in range(RISES):
            strength = np.maximum(slope, WEAKEST * np.abs(slope).max())
            if not np.isfinite(strength).all() or not strength.max() > 0:
                break
            tried = self._spending.shaped(effort * (strength / strength.max()) ** power)
            new, new_slope = self._worth(tried)
            if new > value:
                enough = new - value < LEAST_RISE * abs(value)
                effort, value, slope = tried, new, new_slope
                if enough:
                    break
            elif power > LEAST_POWER:
                power /= 2
            else:
                break
        return effort

    def _towards_corners(self, name: str, started: float, effort: np.ndarray) -> SolvedStart:
        """Conditional gradients: part of the way to the corner where effort is worth most now.

        The slope towards that corner bounds what a concave worth could still gain.
        """
        value, slope = self._worth(effort)
        for step in range(STEPS_OF_MANY):
            corner = greedy(self._spending, slope)
            if corner is None:
                return SolvedStart(name, effort, started, value, 1, "the slope is no number", step)
            left = float((slope * (corner - effort)).sum())
            told = f"at most {100 * left / self._scale:.2g} % to gain nearby"
            if left <= ENOUGH * self._scale:
                return SolvedStart(name, effort, started, value, 0, told, step)
            tries = [effort + part * (corner - effort) for part in PARTS]
            best = max(tries, key=lambda one: self._worth(one)[0])
            new, new_slope = self._worth(best)
            if new <= value:
                return SolvedStart(name, effort, started, value, 0, told, step)
            effort, value, slope = best, new, new_slope
        return SolvedStart(name, effort, started, value, 9, told, STEPS_OF_MANY)

    def _of_effort(self, free: np.ndarray) -> np.ndarray:
        return np.sqrt(free / self._unit)

    def _loss(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = self._worth(self._effort(x))
        by_effort = -slope.ravel()[self._free] * (self._unit / self._scale)
        return -value / self._scale, by_effort * 2 * x

    def _effort(self, x: np.ndarray) -> np.ndarray:
        effort = self._spending.low.ravel().copy()
        effort[self._free] = x**2 * self._unit
        return effort.reshape(self._shape)

    def _efforts(self, x: np.ndarray) -> list[np.ndarray]:
        """What was found, as it is and with next to nothing taken for nothing."""
        effort = self._effort(x)
        nothing = effort <= 10 * FLOOR * self._unit
        emptied = np.where(nothing, self._spending.low, effort)
        return [self._spending.lowered(one) for one in (emptied, effort)]
