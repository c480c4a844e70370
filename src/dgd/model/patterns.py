r"""The tree over joint binary patterns, and its gradient.

Behaviours are decided one after another, so the 2^H joint patterns are the
leaves of a binary tree: behaviour h splits every prefix y_1..y_{h-1} in two
with probability sigma(eta_h). All leaves together cost 2^H - 1 sigmoids a
node, not H 2^H. Patterns are numbered sum of y_h 2^h, so the two halves of a
level lie side by side in memory and no reordering is ever needed.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.bits import behavior_bits

LOGIT_BOUND = 150.0
"""Each factor of exp(-logit) stays within e^150, so that no product overflows or vanishes."""

SLIVER = 1e-16
"""Share of a prefix that the unlikelier half keeps at least: no leaf is zero or negative."""

BLOCK_ELEMENTS = 1_000_000
"""Patterns x nodes x cells walked at once: large enough to fill both cores,
small enough to stay near the cache."""


def lower_triangular(
    entries: Float[Array, " pair"], behaviors: int
) -> Float[Array, "behavior behavior"]:
    """Psi, strictly lower triangular, from its entries row by row."""
    row, column = np.tril_indices(behaviors, -1)
    return jnp.zeros((behaviors, behaviors)).at[row, column].set(entries)


def integrate_patterns(
    logits: Float[Array, "behavior node cell"],
    weights: Float[Array, "node cell"],
    dependence: Float[Array, "behavior behavior"],
) -> Float[Array, "pattern cell"]:
    r"""Joint pattern probabilities of each cell, integrated over its nodes.

    .. math:: q(y) = \sum_i w_i \prod_h \sigma(\eta_h)^{y_h} (1-\sigma(\eta_h))^{1-y_h},
        \qquad \eta_h = logits_{hi} + \sum_{h'<h} \Psi_{hh'} y_{h'}

    `dependence` is Psi, strictly lower triangular. Cells are walked in blocks;
    within a block the logit's two parts enter as factors of one exponential.
    """
    behaviors, nodes, cells = logits.shape
    block = max(8, BLOCK_ELEMENTS // (2**behaviors * nodes))
    if cells <= block:
        return _block_patterns(logits, weights, dependence)
    count = -(-cells // block)
    padding = count * block - cells

    def split(x: Array) -> Array:
        padded = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, padding)])
        return jnp.moveaxis(padded.reshape(*x.shape[:-1], count, block), -2, 0)

    blocks = jax.lax.map(
        lambda part: _block_patterns(part[0], part[1], dependence), (split(logits), split(weights))
    )
    return jnp.moveaxis(blocks, 0, 1).reshape(2**behaviors, -1)[:, :cells]


def _odds_against(
    logits: Float[Array, "behavior node cell"], dependence: Float[Array, "behavior behavior"]
) -> tuple[Array, list[Array]]:
    """exp(-logit) as a cell-and-node factor and one factor per prefix of each level."""
    own = jnp.exp(-jnp.clip(logits, -LOGIT_BOUND, LOGIT_BOUND))
    prefix = [
        jnp.exp(-jnp.clip(behavior_bits(h) @ dependence[h, :h], -LOGIT_BOUND, LOGIT_BOUND))
        for h in range(len(logits))
    ]
    return own, prefix


def _grow(
    own: Float[Array, "behavior node cell"],
    prefix: list[Array],
    weights: Float[Array, "node cell"],
) -> tuple[Array, list[tuple[Array, Array]]]:
    """Leaves P(y), and for every level P(prefix) and the probability that splits it."""
    mass = weights[None]
    levels = []
    for own_odds, effect in zip(own, prefix, strict=True):
        split = 1.0 / (1.0 + own_odds[None] * effect[:, None, None])
        levels.append((mass, split))
        shown = mass * split
        # Where the split rounds to one, a sliver keeps the other half positive.
        mass = jnp.concatenate([jnp.maximum(mass - shown, SLIVER * mass), shown])
    return mass, levels


@jax.custom_vjp
def _block_patterns(logits: Array, weights: Array, dependence: Array) -> Array:
    leaves, _ = _grow(*_odds_against(logits, dependence), weights)
    return leaves.sum(1)


def _forward(logits: Array, weights: Array, dependence: Array) -> tuple[Array, tuple[Array, ...]]:
    return _block_patterns(logits, weights, dependence), (logits, weights, dependence)


def _backward(
    saved: tuple[Array, Array, Array], gradient: Float[Array, "pattern cell"]
) -> tuple[Array, Array, Array]:
    # XLA would fuse whatever computed the gradient into every use of it below and
    # so repeat that work at every node; a branch is a boundary it respects. The
    # condition always holds, weights being shares.
    weights = saved[1]
    return jax.lax.cond(weights[0, 0] >= 0.0, _walk_back, _nothing, saved, gradient)


def _nothing(saved: tuple[Array, Array, Array], _: Array) -> tuple[Array, Array, Array]:
    return jax.tree.map(jnp.zeros_like, saved)


def _walk_back(
    saved: tuple[Array, Array, Array], gradient: Float[Array, "pattern cell"]
) -> tuple[Array, Array, Array]:
    r"""Walk a valuation of the leaves back to the root.

    With V the gradient at the leaves, V(prefix) = (1-s) V_0 + s V_1, and the
    logit of a prefix has gradient P(prefix) s (1-s) (V_1 - V_0).
    """
    logits, weights, dependence = saved
    _, levels = _grow(*_odds_against(logits, dependence), weights)
    value = jnp.broadcast_to(gradient[:, None], (len(gradient), *weights.shape))
    logit_gradient, dependence_gradient = [], []
    for mass, split in levels[::-1]:
        without, with_behavior = value[: len(mass)], value[len(mass) :]
        gain = with_behavior - without
        value = without + split * gain
        moved = mass * split
        moved = (moved - moved * split) * gain
        logit_gradient.append(moved.sum(0))
        dependence_gradient.append(moved.sum((1, 2)))
    behaviors = len(logits)
    rows = [
        jnp.pad(behavior_bits(h).T @ by_prefix, (0, behaviors - h))
        for h, by_prefix in enumerate(dependence_gradient[::-1])
    ]
    return jnp.stack(logit_gradient[::-1]), value[0], jnp.stack(rows)


_block_patterns.defvjp(_forward, _backward)
