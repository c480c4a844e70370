r"""Linear regression by instruments: two-stage least squares, and GMM with a given weight.

.. math:: y = X \beta + \xi, \qquad E[Z^T \xi] = 0, \qquad
    \hat\beta = \arg\min N\, \bar g^T S^{-1} \bar g, \qquad \bar g = Z^T (y - X \beta) / N

With S = Z'Z/N this is two-stage least squares; with S the covariance of the moments at a first
estimate it is the efficient second step. Instruments stand in an orthonormal basis of what they
span, in which Z'Z/N is the identity: estimates are the same and nothing is lost to rounding.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import cholesky, lstsq, solve_triangular

from dgd.choice.inversion.moments import moment_covariance, sandwich

DEPENDENT = 1e-9
"""A column of which less than this part is its own follows from those before it."""


class Instrumented(NamedTuple):
    """Regressors and instruments of the same rows, absorbed effects already taken out."""

    regressors: Float[np.ndarray, "row coefficient"]
    """X."""
    basis: Float[np.ndarray, "row moment"]
    """Z, orthogonal with Z'Z / N the identity."""
    cluster: Int[np.ndarray, " row"]
    """Rows of a cluster may have related xi."""

    @staticmethod
    def of(
        regressors: Float[np.ndarray, "row coefficient"],
        instruments: Float[np.ndarray, "row instrument"],
        cluster: Int[np.ndarray, " row"],
    ) -> "Instrumented":
        """Of instruments that span what they span, in whatever columns."""
        columns = instruments[:, independent(instruments)]
        basis = np.linalg.qr(columns)[0] * np.sqrt(len(columns))
        return Instrumented(regressors, basis, cluster)

    @property
    def first_weight(self) -> Float[np.ndarray, "moment moment"]:
        """The root of Z'Z / N."""
        return np.eye(self.basis.shape[1])

    def moments(self, values: Float[np.ndarray, "row ..."]) -> Float[np.ndarray, "moment ..."]:
        """Z' values / N."""
        return self.basis.T @ values / len(self.basis)

    def coefficients(
        self, outcome: Float[np.ndarray, " row"], root: Float[np.ndarray, "moment moment"]
    ) -> Float[np.ndarray, " coefficient"]:
        """The best beta where S is `root` times its transpose."""
        weighed = solve_triangular(root, self.moments(self.regressors), lower=True)
        wanted = solve_triangular(root, self.moments(outcome), lower=True)
        return np.asarray(lstsq(weighed, wanted)[0])

    def left(
        self, values: Float[np.ndarray, "row ..."], root: Float[np.ndarray, "moment moment"]
    ) -> Float[np.ndarray, "moment ..."]:
        """What the best beta leaves of the weighed moments; of xi its square is N g' S^-1 g.

        Linear in `values`, so that derivatives are left over as values are.
        """
        weighed = solve_triangular(root, self.moments(self.regressors), lower=True)
        wanted = solve_triangular(root, self.moments(values), lower=True)
        onto = np.linalg.qr(weighed)[0]
        return np.sqrt(len(self.basis)) * (wanted - onto @ (onto.T @ wanted))

    def next_weight(self, xi: Float[np.ndarray, " row"]) -> Float[np.ndarray, "moment moment"]:
        """The root of the moments' covariance at `xi`: the weight of the second step."""
        covariance = moment_covariance(self.basis, xi, self.cluster)
        return np.asarray(cholesky(covariance, lower=True))

    def covariance(
        self,
        slopes: Float[np.ndarray, "row parameter"],
        xi: Float[np.ndarray, " row"],
        root: Float[np.ndarray, "moment moment"],
        known: Float[np.ndarray, "fact parameter"] | None = None,
    ) -> Float[np.ndarray, "parameter parameter"]:
        """Of all parameters, which move xi by `slopes`; what is `known` is as in `sandwich`."""
        spread = moment_covariance(self.basis, xi, self.cluster)
        return sandwich(self.moments(slopes), root, spread, len(self.basis), known)


class LinearEstimate(NamedTuple):
    """Coefficients, and what is known about them."""

    coefficients: Float[np.ndarray, " coefficient"]
    covariance: Float[np.ndarray, "coefficient coefficient"]
    residual: Float[np.ndarray, " row"]
    objective: float
    """N g' S^-1 g."""


def instrumental_variables(
    outcome: Float[np.ndarray, " row"], problem: Instrumented, steps: int = 1
) -> LinearEstimate:
    """Two-stage least squares, or after a second step efficient GMM; absorbed effects are out."""
    root = problem.first_weight
    found = problem.coefficients(outcome, root)
    for _ in range(steps - 1):
        root = problem.next_weight(outcome - problem.regressors @ found)
        found = problem.coefficients(outcome, root)
    residual = outcome - problem.regressors @ found
    covariance = problem.covariance(-problem.regressors, residual, root)
    value = float((problem.left(outcome, root) ** 2).sum())
    return LinearEstimate(found, covariance, residual, value)


def independent(columns: Float[np.ndarray, "row column"]) -> Bool[np.ndarray, " column"]:
    """Which columns do not follow from those before them."""
    length = np.sqrt((columns**2).sum(0))
    kept = np.zeros(columns.shape[1], bool)
    basis = np.zeros((len(columns), 0))
    for index in range(columns.shape[1]):
        if length[index] == 0:
            continue
        own = columns[:, index] / length[index]
        # Twice: once leaves rounding errors of what was taken out.
        for _ in range(2):
            own = own - basis @ (basis.T @ own)
        size = np.sqrt(own @ own)
        if size > DEPENDENT:
            kept[index] = True
            basis = np.c_[basis, own / size]
    return kept
