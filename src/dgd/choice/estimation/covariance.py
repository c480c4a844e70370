r"""How sure an estimate is: a sandwich of curvature and of what clusters say by themselves.

.. math:: V = H^{-1} \Big(\sum_c s_c s_c^T\Big) H^{-1}, \qquad
    s_c = \frac{\partial \ell_c}{\partial \theta} + \Big(\sum_b
    \frac{\partial^2 \ell}{\partial \theta\, \partial q_b} \frac{\partial q_b}{\partial \pi}\Big)
    \psi_c

where H is the curvature of the negative log-likelihood and the prior. The second part of a score is
the first stage's share of doubt: psi_c is what cluster c adds to its effects pi. Shares may scatter
as they like around the model, and offers of a market together: the sandwich does not ask.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from dgd.choice.estimation.evidence import ChoiceEvidence, clusters_of
from dgd.choice.estimation.target import (
    Target,
    curvature,
    expected_counts,
    log_share_slopes,
    scores,
)
from dgd.choice.instruments.first_stage import FirstStage
from dgd.choice.markets import Markets

FEW = 2000
"""With more clusters none of them decides anything by itself."""
MOST_DECIDED = 0.8
"""Of a direction, one cluster is taken to decide no more than this."""
FLAT = 1e-9
"""Directions whose curvature is smaller, relative to the largest, are not estimated."""


def sandwich(
    free: Any, target: Target, markets: Markets, stage: FirstStage | None
) -> Float[np.ndarray, "parameter parameter"]:
    """The covariance of the free parameters, clustered."""
    amount = float(target.scaling.amount)
    bend = amount * np.asarray(curvature(*ravel_pytree(free), target))
    said = np.asarray(scores(free, target.fixed, target.evidence))
    said = said * np.asarray(target.weight)[:, None]
    if stage is not None:
        said = said + _from_first_stage(free, target, markets, stage)
    dispersion = float(target.scaling.dispersion)
    values, vectors = np.linalg.eigh(bend)
    kept = values > FLAT * values.max()
    root = vectors[:, kept] / np.sqrt(values[kept])
    moves = said @ root / dispersion
    if not target.evidence.repeated and len(said) <= FEW:
        moves = _without_themselves(free, target, moves, root / np.sqrt(dispersion))
    return np.asarray(root @ (moves.T @ moves) @ root.T)


def _without_themselves(
    free: Any,
    target: Target,
    moves: Float[np.ndarray, "cluster direction"],
    root: Float[np.ndarray, "parameter direction"],
) -> Float[np.ndarray, "cluster direction"]:
    r"""What clusters say about an estimate that does without them: a cluster that decides much
    agrees with itself, and by just as much too well.

    .. math:: \tilde m_c = (I - R^T B_c R)^{-1} m_c, \qquad R R^T = H^{-1}

    with B_c the cluster's own part of H, and m_c what it says along the columns of R.
    """
    slopes = np.asarray(log_share_slopes(free, target.fixed, target.evidence)) @ root
    expected = np.asarray(expected_counts(free, target.fixed, target.evidence))
    found = np.empty_like(moves)
    for cluster, own in enumerate(moves):
        decided, axes = np.linalg.eigh((slopes[cluster].T * expected[cluster]) @ slopes[cluster])
        found[cluster] = axes @ ((axes.T @ own) / (1.0 - np.clip(decided, 0.0, MOST_DECIDED)))
    return found


def _from_first_stage(
    free: Any, target: Target, markets: Markets, stage: FirstStage
) -> Float[np.ndarray, "cluster parameter"]:
    """What each cluster adds to the slope by what it adds to the first stage's effects."""
    at = markets.available
    known = stage.known
    size = np.maximum(np.abs(known).max(0), np.finfo(float).tiny)
    known = known / size
    cluster = np.broadcast_to(clusters_of(markets)[:, None], at.shape)[at]
    moved = np.zeros((int(cluster.max()) + 1, known.shape[1]))
    np.add.at(moved, cluster, known * stage.residual[at][:, None])
    influence = moved @ np.linalg.pinv(known.T @ known, rcond=1e-12, hermitian=True)
    directions = np.zeros((known.shape[1], *at.shape))
    directions[:, at] = known.T
    bends = np.asarray(_mixed(free, target.fixed, target.evidence, jnp.asarray(directions)))
    # A larger effect of a column leaves less of the price unexplained.
    return -influence @ bends


@eqx.filter_jit
def _mixed(
    free: Any, fixed: Any, evidence: ChoiceEvidence, directions: Float[Array, "column market slot"]
) -> Float[Array, "column parameter"]:
    """How the slope of the log-likelihood moves where quality moves along each direction."""
    vector, unravel = ravel_pytree(free)

    def slope(quality: Array) -> Array:
        moved = eqx.tree_at(lambda e: e.offers, evidence, evidence.offers._replace(quality=quality))

        def value(vector: Array) -> Array:
            return moved.log_likelihoods(eqx.combine(unravel(vector), fixed)).sum()

        return jax.grad(value)(vector)

    def along(direction: Array) -> Array:
        return jax.jvp(slope, (evidence.offers.quality,), (direction,))[1]

    return jax.lax.map(along, directions)
