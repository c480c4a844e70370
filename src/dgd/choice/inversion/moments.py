r"""What moments of instruments and quality say about estimates: errors, and two tests.

.. math:: S = \frac1N \sum_c \Big(\sum_{i \in c} z_i \xi_i - \bar g\Big)
    \Big(\sum_{i \in c} z_i \xi_i - \bar g\Big)^T

sums over clusters c of rows; with every row a cluster of its own the errors are robust to unequal
variances, with markets as clusters also to whatever products of a market share.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import block_diag, solve_triangular
from scipy.stats import chi2

FLAT = 1e-12
"""Directions of parameters that move the moments by less than this part count as unknown."""


class Hansen(NamedTuple):
    """Whether more moments than parameters can all be zero at once."""

    statistic: float
    """J = N g' S^-1 g."""
    degrees: int
    """Moments less parameters."""
    p_value: float
    """How often chance alone makes J as large where every instrument is valid."""

    @staticmethod
    def of(statistic: float, degrees: int) -> "Hansen":
        return Hansen(statistic, degrees, float(chi2.sf(statistic, degrees)))


def moment_covariance(
    instruments: Float[np.ndarray, "row moment"],
    xi: Float[np.ndarray, " row"],
    cluster: Int[np.ndarray, " row"],
) -> Float[np.ndarray, "moment moment"]:
    """S: the covariance of the root of N times the mean moment, clustered."""
    rows = instruments * xi[:, None]
    sums = clustered(rows - rows.mean(0), cluster)
    return np.asarray(sums.T @ sums / len(rows))


def clustered(
    rows: Float[np.ndarray, "row column"], cluster: Int[np.ndarray, " row"]
) -> Float[np.ndarray, "cluster column"]:
    """The sums of each cluster's rows."""
    sums = np.zeros((int(cluster.max()) + 1, rows.shape[1]))
    np.add.at(sums, cluster, rows)
    return sums


def sandwich(
    slopes: Float[np.ndarray, "moment parameter"],
    root: Float[np.ndarray, "moment moment"],
    spread: Float[np.ndarray, "moment moment"],
    rows: int,
    known: Float[np.ndarray, "fact parameter"] | None = None,
) -> Float[np.ndarray, "parameter parameter"]:
    r"""The covariance of GMM estimates.

    .. math:: \frac1N (G^T W G)^{-1} G^T W S W G (G^T W G)^{-1}

    Args:
        slopes: G, the derivative of the mean moments.
        root: of which W is the inverse of the product with its transpose.
        spread: S at the estimates.
        rows: N.
        known: what is known beside the moments: combinations of parameters that are as they are
            with a standard deviation of 1.
    """
    weighed = solve_triangular(root, slopes, lower=True)
    inner = solve_triangular(root, solve_triangular(root, spread, lower=True).T, lower=True)
    if known is not None:
        weighed = np.r_[weighed, known / np.sqrt(rows)]
        inner = block_diag(inner, np.eye(len(known)))
    back = np.linalg.pinv(weighed, rcond=FLAT)
    covariance = back @ inner @ back.T / rows
    return np.asarray((covariance + covariance.T) / 2)


def first_stage_f(
    price: Float[np.ndarray, " row"],
    exogenous: Float[np.ndarray, "row coefficient"],
    excluded: Float[np.ndarray, "row instrument"],
    cluster: Int[np.ndarray, " row"],
) -> float:
    r"""The clustered F of the excluded instruments in the regression of price on all of them.

    .. math:: F = \pi^T V^{-1} \pi / q

    with pi the effects of q instruments and V their clustered covariance; NaN where there are not
    more clusters than instruments. Below about 10 the instruments hardly move prices.
    """
    onto = np.linalg.qr(exogenous)[0]
    moved, own = (x - onto @ (onto.T @ x) for x in (price, excluded))
    basis = np.linalg.qr(own)[0]
    effect = basis.T @ moved
    sums = clustered(basis * (moved - basis @ effect)[:, None], cluster)
    number = basis.shape[1]
    if len(sums) <= number:
        return float("nan")
    return float(effect @ np.linalg.solve(sums.T @ sums, effect)) / number
