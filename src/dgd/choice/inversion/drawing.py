r"""Parameters drawn as estimates scatter, and not further than moments would allow.

.. math:: \theta = \hat\theta + t\, d, \qquad \beta = \hat\beta(\theta) + e, \qquad
    (d, e) \sim \text{the estimates' errors}

A covariance knows slopes only. Where they hardly tell, as of a loading near zero, which moves
nothing whichever way it goes, a draw would lie far beyond where the covariance is true. A draw is
therefore taken back towards the estimate, t < 1, until the objective is no higher than the draw
was meant to be.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import lstsq, solve_triangular

from dgd.choice.inversion.minimum import QualityProblem

HELD = 2.0
"""Where moments do not tell at all, differences between people are drawn so far, in standard
deviations of utility."""
HALVINGS = 8


class _Around(NamedTuple):
    """What draws need to know of the estimate."""

    theta: Float[np.ndarray, " parameter"]
    beta: Float[np.ndarray, " coefficient"]
    slopes: Float[np.ndarray, "moment parameter"]
    """Of the weighed moments after the best linear part."""
    follow: Float[np.ndarray, "coefficient parameter"]
    """How the best linear part moves with theta."""
    least: float
    unit: float
    """The objective rises by this where parameters are off by one standard error."""


def parameter_draws(
    problem: QualityProblem,
    parameters: Float[np.ndarray, " parameter"],
    root: Float[np.ndarray, "moment moment"],
    rng: np.random.Generator,
    number: int,
) -> Float[np.ndarray, "draw parameter"]:
    """So many draws around `parameters`, estimated with the weight of `root`; in `computing`."""
    linear, free = problem.linear, problem.tastes.number
    theta, beta = np.split(parameters, [free])
    valued = problem.valued(theta)
    within = problem.design.absorbed.rest(valued.delta[:, None])[:, 0]
    xi = within - linear.regressors @ beta
    known = np.eye(free, len(parameters)) / HELD
    slopes = np.c_[valued.slopes, -linear.regressors]
    variance, axes = np.linalg.eigh(linear.covariance(slopes, xi, root, known))
    errors = rng.normal(size=(number, len(variance))) * np.sqrt(np.maximum(variance, 0.0))
    errors = errors @ axes.T
    if not free:
        return parameters + errors
    weighed, moved = (
        solve_triangular(root, linear.moments(part), lower=True)
        for part in (linear.regressors, valued.slopes)
    )
    scatter = solve_triangular(root, linear.next_weight(xi), lower=True)
    around = _Around(
        theta,
        beta,
        linear.left(valued.slopes, root),
        lstsq(weighed, moved)[0],
        float((linear.left(valued.delta, root) ** 2).sum()),
        float((scatter**2).sum()) / len(scatter),
    )
    return np.stack([_one(problem, around, root, error) for error in errors])


def _one(
    problem: QualityProblem, around: _Around, root: np.ndarray, error: np.ndarray
) -> Float[np.ndarray, " parameter"]:
    """The draw with this `error`, taken back where the objective rises by more than it says."""
    off, rest = np.split(error, [len(around.theta)])
    own = rest - around.follow @ off
    meant = float(((around.slopes @ off) ** 2).sum() + around.unit * (1 + (off @ off) / HELD**2))

    def far(part: float) -> bool:
        left = problem.linear.left(problem.delta(around.theta + part * off), root)
        rise = float(left @ left) - around.least
        return not rise <= meant

    low, high = (0.0, 1.0) if far(1.0) else (1.0, 1.0)
    for _ in range(HALVINGS if high > low else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if far(middle) else (middle, high)
    theta = around.theta + low * off
    return np.r_[theta, problem.linear.coefficients(problem.delta(theta), root) + own]
