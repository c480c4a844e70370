r"""How much of a forecast the model has earned: evidence on the validation days.

The past alone is believed at first. Of all pools of it with the model, one had the lowest
loss on days that neither was trained on. Its gain z, in units of its own standard error and
paired by day, turns the odds that the model helps at all,

.. math:: \frac{p}{1-p} = \frac{\pi}{1-\pi} \exp(z^2 / 2)

and the share of the model is p times its share in that pool: a gain within chance is
hardly followed, one of four standard errors in full.
"""

import numpy as np
from jaxtyping import Float

POOLS = tuple(np.linspace(0.0, 1.0, 11).tolist())
"""Shares of the model in the pools that are compared."""
BELIEVED = 0.1
"""How likely it is held that the model helps, before any evidence."""
MOST_EVIDENCE = 50.0
"""Log-odds beyond which nothing changes any more."""


def earned_share(losses: Float[np.ndarray, "pool day"]) -> float:
    """The share of the model, from every pool's loss on every validation day."""
    gains = losses[0] - losses
    best = int(gains.sum(1).argmax())
    if best == 0:
        return 0.0
    days = gains.shape[1]
    error = gains[best].std(ddof=1) * np.sqrt(days) if days > 1 else np.inf
    z = gains[best].sum() / error if error > 0 else np.inf
    odds = BELIEVED / (1 - BELIEVED) * np.exp(min(z**2 / 2, MOST_EVIDENCE))
    return float(POOLS[best] * odds / (1 + odds))
