r"""Weights of candidates by how well they did at past origins.

A single best candidate is mostly the luckiest. Those nearly as good share the weight,

.. math:: w_k \propto \exp(-(L_k - \min L) / s)

with a softness s below which two losses cannot be told apart. Losses are taken for
forecasts 1, 3 and 7 days ahead, and steps ahead have weights of their own.
"""

import numpy as np
from jaxtyping import Float, Int

from dgd.panel.split import Split

BLOCKS = (1, 3, 7)
"""Steps ahead at which candidates are scored; a step takes the weights of the last one reached."""
WARMING_DAYS = 14
"""Training days before the first one that is scored, where a quarter of training allows it."""


def blocks_of(days: Int[np.ndarray, " day"]) -> tuple[int, ...]:
    """The steps ahead that can be scored when no more than these days are."""
    return tuple(step for step in BLOCKS if step == 1 or len(days) >= 2 * step)


def block_of(step: int, blocks: tuple[int, ...]) -> int:
    """Which row of weights a step ahead takes."""
    return int(np.searchsorted(blocks, step, side="right")) - 1


def scored_days(split: Split) -> Int[np.ndarray, " day"]:
    """The days on which candidates are compared: of training and of validation."""
    warming = max(1, min(WARMING_DAYS, (split.train_stop - split.first) // 4))
    return np.arange(split.first + warming, split.validation_stop)


def soft_weights(
    losses: Float[np.ndarray, "block candidate"], softness: float, own: float, most: int
) -> Float[np.ndarray, "block candidate"]:
    """Weights of every candidate for every block, the least weights set to nothing.

    `own` is how much of a block's loss is its own, the rest being the mean of all blocks; no
    more than `most` candidates are kept, for the others together would hardly be heard.
    """
    mixed = own * losses + (1 - own) * losses.mean(0)
    weights = np.exp(-(mixed - mixed.min(1, keepdims=True)) / softness)
    if weights.shape[1] > most:
        least = np.sort(weights, 1)[:, [-most]]
        weights = np.where(weights >= least, weights, 0.0)
    return np.asarray(weights / weights.sum(1, keepdims=True))
