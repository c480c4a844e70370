"""The search for the top of a likelihood: far steps by slopes, then Newton's to a tolerance."""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float
from scipy.optimize import minimize

from dgd.choice.estimation.target import Target, curvature, value_and_slope

TOLERANCE = 1e-7
"""A search has converged where no entry of the slope per unit of information is larger."""
NEAR = 1e-5
"""Where steps by slopes hand over to Newton's."""
NEWTON_STEPS = 60
LARGEST_STEP = 5.0

SearchTell = Callable[[int, float], None]
"""Told how many steps are done, and the value reached."""


class SearchEnd(NamedTuple):
    """Where a search ended."""

    free: Any
    value: float
    slope: float
    """The largest entry of the slope, per unit of information."""
    steps: int
    values: Float[np.ndarray, " step"]
    stopped: bool = False

    @property
    def converged(self) -> bool:
        return self.slope <= TOLERANCE


class _Stopped(Exception):
    """The search was asked to end."""


def search(
    free: Any,
    target: Target,
    steps: int,
    tell: SearchTell | None = None,
    stop: threading.Event | None = None,
    finish: bool = True,
) -> SearchEnd:
    """From `free` to where the slope vanishes, in at most so many steps by slopes.

    Where the top itself is not asked for, Newton's steps are not taken.

    Within `computing`.
    """
    first, unravel = ravel_pytree(free)
    course = _Descent(unravel, target, tell, stop)
    best = np.asarray(first)
    try:
        best = minimize(
            course.value_and_slope,
            best,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": steps, "maxfun": 2 * steps, "gtol": NEAR, "ftol": 1e-13},
        ).x
        if finish:
            best = _newton(course, best, min(NEWTON_STEPS, steps))
    except _Stopped:
        best = course.best
    value, slope = course.at(best)
    return SearchEnd(
        unravel(jnp.asarray(best)),
        value,
        float(np.abs(slope).max(initial=0.0)),
        len(course.values),
        np.array(course.values),
        stop is not None and stop.is_set(),
    )


def _newton(course: "_Descent", point: np.ndarray, steps: int) -> np.ndarray:
    options = {
        "gtol": TOLERANCE / 2,
        "maxiter": steps,
        "initial_trust_radius": 0.5,
        "max_trust_radius": LARGEST_STEP,
    }
    found = minimize(
        course.value,
        point,
        jac=course.slope,
        hess=course.curvature,
        method="trust-exact",
        options=options,
    )
    return np.asarray(found.x)


class _Descent:
    """The target as the search asks for it, one point at a time, each computed once."""

    def __init__(
        self,
        unravel: Callable[..., Any],
        target: Target,
        tell: SearchTell | None,
        stop: threading.Event | None,
    ) -> None:
        self.unravel, self.target, self.tell, self.stop = unravel, target, tell, stop
        self.point: np.ndarray | None = None
        self.values: list[float] = []
        self.best = np.zeros(0)
        self.lowest = np.inf

    def at(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        if self.point is None or not np.array_equal(point, self.point):
            value, slope = value_and_slope(jnp.asarray(point), self.unravel, self.target)
            self.found = float(value), np.asarray(slope)
            if not np.isfinite(self.found[0]) or not np.isfinite(self.found[1]).all():
                self.found = np.inf, np.zeros_like(point)
            self.point = point.copy()
            self.values.append(self.found[0])
            if self.found[0] < self.lowest:
                self.lowest, self.best = self.found[0], point.copy()
        return self.found

    def value_and_slope(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        if self.stop is not None and self.stop.is_set():
            raise _Stopped
        found = self.at(point)
        if self.tell is not None:
            self.tell(len(self.values), self.lowest)
        return found

    def value(self, point: np.ndarray) -> float:
        return self.value_and_slope(point)[0]

    def slope(self, point: np.ndarray) -> np.ndarray:
        return self.at(point)[1]

    def curvature(self, point: np.ndarray) -> np.ndarray:
        return np.asarray(curvature(jnp.asarray(point), self.unravel, self.target))
