"""Which behaviours a pattern of a number shows."""

from functools import lru_cache

import numpy as np
from jaxtyping import Float


@lru_cache(maxsize=16)
def behavior_bits(behaviors: int) -> Float[np.ndarray, "pattern behavior"]:
    """y_h of every pattern."""
    number = np.arange(2**behaviors)
    return ((number[:, None] >> np.arange(behaviors)) & 1).astype(np.float64)
