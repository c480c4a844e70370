r"""The differences between people at which instruments and quality are least related.

.. math:: \min_\theta N\, \bar g(\theta)^T S^{-1} \bar g(\theta), \qquad
    \bar g = Z^T \big(\delta(\theta) - X \hat\beta(\theta)\big) / N

with delta the value alike for all at which shares are the observed ones, and the linear part beta
the best there is at theta. What is minimised is a sum of squares, and its derivative is exact.
"""

from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from scipy.optimize import least_squares, minimize

from dgd.choice.inversion.contraction import inverted
from dgd.choice.inversion.design import Design
from dgd.choice.inversion.quality_slopes import quality_slopes
from dgd.choice.inversion.random_tastes import RandomTastes
from dgd.choice.inversion.shares import ObservedShares
from dgd.choice.inversion.two_stage import Instrumented
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers

GRADIENT = 1e-6
"""A search has arrived where no derivative of the objective is larger."""
REACH = 30.0
"""Loadings and intercepts stay within this, on the scales that are learned on."""
LEAST_SQUARES_STEPS = 30
"""Least squares is there by then, or slow because its slopes are alike."""
MOST_STEPS = 500


class Valued(NamedTuple):
    """What everyone finds in each offer at some theta."""

    delta: Float[np.ndarray, " row"]
    slopes: Float[np.ndarray, "row parameter"]
    """d delta / d theta."""
    converged: Bool[np.ndarray, " market"]


class Minimum(NamedTuple):
    """Where a search ended."""

    theta: Float[np.ndarray, " parameter"]
    objective: float
    gradient: float
    """The largest derivative of the objective."""
    iterations: int
    """How often shares were inverted."""


@dataclass(frozen=True, eq=False)
class QualityProblem:
    """Markets, the differences that are searched for, and the linear part beside them."""

    tastes: RandomTastes
    design: Design
    linear: Instrumented
    offers: Offers
    observed: ObservedShares

    @staticmethod
    def of(markets: Markets, tastes: RandomTastes) -> "QualityProblem":
        observed = ObservedShares.of(markets)
        design = Design.of(markets, tastes.scales)
        linear = design.instrumented(tastes.price_is_linear, len(tastes.free))
        return QualityProblem(tastes, design, linear, tastes.offers(Offers.of(markets)), observed)

    def valued(self, theta: Float[np.ndarray, " parameter"]) -> Valued:
        """Shares inverted at `theta`."""
        found = _valued(self.tastes, jnp.asarray(theta), self.offers, self.observed)
        delta, slopes, converged = (np.asarray(part) for part in found)
        rows = self.design.markets.available
        return Valued(delta[rows], slopes[rows], converged)

    def delta(self, theta: Float[np.ndarray, " parameter"]) -> Float[np.ndarray, " row"]:
        """The value alike for all by itself, for less than half the work."""
        found = inverted(self.tastes.demand(jnp.asarray(theta)), self.offers, self.observed)
        return np.asarray(found.quality)[self.design.markets.available]

    def minimum(
        self, start: Float[np.ndarray, " parameter"], root: Float[np.ndarray, "moment moment"]
    ) -> Minimum:
        """The search from `start`, with the weight of which `root` is the root."""
        search = _Search(self, root)
        if not len(start):
            return Minimum(start, search.objective(start)[0], 0.0, search.inversions)
        at = least_squares(
            lambda theta: search.left(theta)[0],
            start,
            lambda theta: search.left(theta)[1],
            bounds=(-REACH, REACH),
            ftol=None,
            xtol=1e-12,
            gtol=GRADIENT / (2 * REACH),
            max_nfev=LEAST_SQUARES_STEPS,
        ).x
        # Least squares slows down where much is left over and slopes are nearly alike; BFGS, which
        # learns how slopes bend, does not.
        if search.gradient(at) > GRADIENT:
            options = {"gtol": GRADIENT / 2, "maxiter": MOST_STEPS}
            after = minimize(search.objective, at, jac=True, method="BFGS", options=options)
            if after.fun <= search.objective(at)[0] and np.abs(after.x).max() <= REACH:
                at = after.x
        value = search.objective(at)[0]
        return Minimum(np.asarray(at), value, search.gradient(at), search.inversions)


class _Search:
    """The objective at the thetas that an optimiser tries, each inverted once."""

    def __init__(self, problem: QualityProblem, root: np.ndarray) -> None:
        self.problem, self.root = problem, root
        self.inversions = 0
        self.last: tuple[bytes, tuple[np.ndarray, np.ndarray]] | None = None

    def left(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weighed moments after the best linear part, and their derivatives."""
        key = theta.tobytes()
        if self.last is None or self.last[0] != key:
            found = self.problem.valued(theta)
            self.inversions += 1
            linear = self.problem.linear
            left = linear.left(found.delta, self.root), linear.left(found.slopes, self.root)
            self.last = key, left
        return self.last[1]

    def objective(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """N g' S^-1 g, and its derivative."""
        left, slopes = self.left(theta)
        return float(left @ left), 2.0 * slopes.T @ left

    def gradient(self, theta: np.ndarray) -> float:
        return float(np.abs(self.objective(theta)[1]).max(initial=0.0))


@eqx.filter_jit
def _valued(
    tastes: RandomTastes,
    theta: Float[Array, " parameter"],
    offers: Offers,
    observed: ObservedShares,
) -> tuple[
    Float[Array, "market slot"], Float[Array, "market slot parameter"], Bool[Array, " market"]
]:
    found = inverted(tastes.demand(theta), offers, observed)
    slopes = quality_slopes(tastes.demand, theta, offers._replace(quality=found.quality))
    return found.quality, slopes, found.converged
