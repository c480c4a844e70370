r"""How much of a forecast the model has earned: evidence on the validation days.

The past alone is believed at first. Of all pools of it with the model, one had the lowest
loss on days that neither was trained on. Its gain z, in units of its own standard error and
paired by day and unit, turns the odds that the model helps at all,

.. math:: \frac{p}{1-p} = \frac{\pi}{1-\pi} \exp(z^2 / 2)

and the share of the model is p times its share in that pool: a gain within chance is
hardly followed, one of four standard errors in full. Where the pairs are few, z is what Student's
t of as many pairs is worth.

A small share may be given in advance, for a pool of two is mostly better than either; it is
taken back where it did harm beyond chance.
"""

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri, stdtr

POOLS = tuple(np.linspace(0.0, 1.0, 11).tolist())
"""Shares of the model in the pools that are compared."""
BELIEVED = 0.1
"""How likely it is held that the model helps, before any evidence."""
HARM = 2.0
"""Standard errors by which a share given in advance must have lost to be taken back."""
LEAST_PAIRS = 5
"""With fewer days (and units) to compare on, nothing is proven."""
SMALLEST_ERROR = 1e-12
"""Gains that do not scatter at all are proven, whatever their size."""
MOST_EVIDENCE = 50.0
"""Log-odds beyond which nothing changes any more."""


def earned_share(losses: Float[np.ndarray, "pool pair"], at_first: float = 0.0) -> float:
    """The share of the model, from every pool's loss on the same days (and units).

    `at_first` is one of the pools' shares, which the model has unless it did harm.
    """
    pairs = losses.shape[1]
    if pairs < LEAST_PAIRS or not np.isfinite(losses).all():
        return 0.0
    gains = losses[0] - losses
    best = int(gains.sum(1).argmax())
    proven = 0.0
    if best > 0:
        z = -ndtri(stdtr(pairs - 1, -_in_errors(gains[best])))
        odds = BELIEVED / (1 - BELIEVED) * np.exp(min(z**2 / 2, MOST_EVIDENCE))
        proven = float(POOLS[best] * odds / (1 + odds))
    harmless = _in_errors(gains[POOLS.index(at_first)]) > -HARM
    return max(proven, at_first) if harmless else proven


def _in_errors(gains: Float[np.ndarray, " pair"]) -> float:
    """The sum of the gains in units of its own standard error."""
    error = float(gains.std(ddof=1) * np.sqrt(len(gains)))
    return float(gains.sum()) / max(error, SMALLEST_ERROR)
