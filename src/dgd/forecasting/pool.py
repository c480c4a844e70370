r"""What a forecast is pooled from: counts alone, and the model by a share of each step ahead.

.. math:: \hat N_s = (1 - w_s) A_s + w_s M_s, \qquad q_s = (1 - v_s) Q_s + v_s q^M_s

A and Q are what the past alone expects, M and q^M what the model does. Beyond the steps on
which the model's share was earned nothing speaks for it any more: its share then halves every so
many steps again, and forecasts flatten to what the past expects instead of drifting with the
model.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class Pool:
    """Expectations of counts alone for every step, and the share of the model in each."""

    arrivals: Float[np.ndarray, "step origin unit cohort"] | None
    """A; `None` where arrivals are the model's alone."""
    patterns: Float[np.ndarray, "step origin unit cohort pattern"] | None
    """Q; `None` where joint patterns are the model's alone."""
    arrival_shares: Float[np.ndarray, " step"]
    """w."""
    pattern_shares: Float[np.ndarray, " step"]
    """v."""

    @staticmethod
    def of_the_model(horizon: int) -> "Pool":
        """Nothing but the model."""
        return Pool(None, None, np.ones(horizon), np.ones(horizon))

    @property
    def needs_the_model(self) -> bool:
        return bool(self.arrival_shares.any() or self.pattern_shares.any())

    def arrivals_at(self, step: int, model: np.ndarray) -> np.ndarray:
        """Expected arrivals of the step numbered from 0; axes before `origin` are free."""
        if self.arrivals is None:
            return model
        return pool(self.arrivals[step], model, self.arrival_shares[step])

    def patterns_at(self, step: int, model: np.ndarray) -> np.ndarray:
        """Joint probabilities of the step, likewise."""
        if self.patterns is None:
            return model
        return pool(self.patterns[step], model, self.pattern_shares[step])


def pool(alone: np.ndarray, model: np.ndarray, share: float) -> np.ndarray:
    """A linear pool; without a share it is what counts alone expect, bit by bit, even where
    the model diverged."""
    if not share:
        return np.broadcast_to(alone, model.shape).copy()
    return np.asarray((1 - share) * alone + share * model)


def fading(share: float, reach: int, horizon: int) -> Float[np.ndarray, " step"]:
    """The share of every step: as earned up to `reach` steps ahead, half of it `reach` further."""
    beyond = np.maximum(np.arange(1, horizon + 1) - reach, 0)
    return np.asarray(share * 0.5 ** (beyond / reach))
