r"""Instruments from how a product differs from its rivals: Gandhi and Houde's, quadratic.

.. math:: z_{jkl} = \sum_{r \ne j} (x_{rk} - x_{jk}) (x_{rl} - x_{jl})

over the rivals r in the market, for attributes k and l. A product among close rivals loses more
of its buyers to them where tastes differ, so that these sums say how much tastes differ. In the
place of price, which follows quality, stands the price that instruments and attributes predict.
"""

import numpy as np
from jaxtyping import Bool, Float


def rivals(available: Bool[np.ndarray, "market slot"]) -> Float[np.ndarray, "market slot 1"]:
    """How many others each product stands against: what tells tastes for buying at all."""
    number = np.broadcast_to(available.sum(1, keepdims=True) - 1.0, available.shape)
    return np.where(available, number, 0.0)[..., None]


def squares(
    known: Float[np.ndarray, "market slot attribute"], available: Bool[np.ndarray, "market slot"]
) -> Float[np.ndarray, "market slot attribute"]:
    """The sums with k = l: how far off rivals are in each attribute."""
    number = known.shape[-1]
    return _sums(known, available, [(k, k) for k in range(number)])


def products(
    known: Float[np.ndarray, "market slot attribute"], available: Bool[np.ndarray, "market slot"]
) -> Float[np.ndarray, "market slot pair"]:
    """The sums with k < l: whether rivals are off in both attributes at once."""
    number = known.shape[-1]
    return _sums(known, available, [(k, h) for k in range(number) for h in range(k + 1, number)])


def _sums(
    known: np.ndarray, available: np.ndarray, pairs: list[tuple[int, int]]
) -> Float[np.ndarray, "market slot pair"]:
    """Multiplied out, so that rivals need not be paired; a product adds nothing to its own sum."""
    known = np.where(available[..., None], known, 0.0)
    # From a market's middle, where the parts that cancel are small.
    middle = known.sum(1, keepdims=True) / np.maximum(available.sum(1), 1)[:, None, None]
    known = np.where(available[..., None], known - middle, 0.0)
    number = available.sum(1)[:, None]
    columns = []
    for k, h in pairs:
        x, y = known[..., k], known[..., h]
        both, alone = (x * y).sum(1, keepdims=True), (x.sum(1), y.sum(1))
        total = number * x * y - x * alone[1][:, None] - y * alone[0][:, None] + both
        columns.append(np.where(available, total, 0.0))
    return np.stack(columns, -1) if columns else np.zeros((*available.shape, 0))
