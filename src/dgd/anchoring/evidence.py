r"""How much of a forecast the model has earned: evidence on the validation days.

The past alone is believed at first. Of all pools of it with the model, one had the lowest
loss on days that neither was trained on. Its gain z, in units of its own standard error and
paired by day and unit, turns the odds that the model helps at all,

.. math:: \frac{p}{1-p} = \frac{\pi}{1-\pi} \exp(z^2 / 2)

and the share of the model is p times its share in that pool: a gain within chance is
hardly followed, one of four standard errors in full. Where the pairs are few, z is what Student's
t of as many pairs is worth.
"""

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri, stdtr

POOLS = tuple(np.linspace(0.0, 1.0, 11).tolist())
"""Shares of the model in the pools that are compared."""
BELIEVED = 0.1
"""How likely it is held that the model helps, before any evidence."""
LEAST_PAIRS = 5
"""With fewer days (and units) to compare on, nothing is proven."""
MOST_EVIDENCE = 50.0
"""Log-odds beyond which nothing changes any more."""


def earned_share(losses: Float[np.ndarray, "pool pair"]) -> float:
    """The share of the model, from every pool's loss on the same days (and units)."""
    gains = losses[0] - losses
    best = int(gains.sum(1).argmax())
    pairs = gains.shape[1]
    if best == 0 or pairs < LEAST_PAIRS or not np.isfinite(losses).all():
        return 0.0
    error = gains[best].std(ddof=1) * np.sqrt(pairs)
    t = gains[best].sum() / error if error > 0 else np.inf
    z = -ndtri(stdtr(pairs - 1, -t))
    odds = BELIEVED / (1 - BELIEVED) * np.exp(min(z**2 / 2, MOST_EVIDENCE))
    return float(POOLS[best] * odds / (1 + odds))
