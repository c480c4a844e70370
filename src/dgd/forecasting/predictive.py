r"""What a forecaster predicts: the distribution of counts for every step after each origin.

Arrivals of a cell are negative binomial of mean N and dispersion r, their joint
patterns multinomial with probabilities q,

.. math:: N_{ct} \sim NB(\hat N_{ct}, r), \qquad C_{ct} \mid N_{ct} \sim Multinomial(N_{ct}, q_{ct})

and the seeds of a fit are a mixture, each weighing the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Int

from dgd.errors import InputError
from dgd.forecasting.asked import Asked
from dgd.forecasting.calibration import Promise
from dgd.model import multinomial, negative_binomial
from dgd.model.bits import behavior_bits

Drawn: TypeAlias = Int[np.ndarray, "path step origin unit cohort pattern"]
"""Counts of joint patterns on sampled paths."""


@dataclass(frozen=True, eq=False)
class Predictive:
    """Expected arrivals, joint probabilities of an arrival's behaviours, and their scatter."""

    arrivals: Float[np.ndarray, "seed step origin unit cohort"]
    patterns: Float[np.ndarray, "seed step origin unit cohort pattern"]
    """q(y); pattern number = sum of y_h 2^h."""
    dispersion: Float[np.ndarray, "#seed #step #origin #unit #cohort"] | float | None = None
    """r around the expected arrivals, infinity for a Poisson; `None` where only a mean is
    forecast."""
    sampler: Callable[[np.random.Generator, int], Drawn] | None = None
    """Draws whole paths, where what is drawn on one day moves the forecast of the next."""
    promise: Callable[[Asked, Sequence[int], float, int], Promise] | None = None
    """Which level of its paths covers as much as is asked, as past origins say; without it
    intervals are the central ones of the paths."""

    @property
    def horizon(self) -> int:
        return self.arrivals.shape[1]

    @property
    def rates(self) -> Float[np.ndarray, "seed step origin unit cohort behavior"]:
        """How likely an arrival shows each behaviour."""
        return self.patterns @ behavior_bits(int(self.patterns.shape[-1]).bit_length() - 1)

    @property
    def behavior_counts(self) -> Float[np.ndarray, "seed step origin unit cohort behavior"]:
        """Expected behaviour counts."""
        return self.arrivals[..., None] * self.rates

    def at(self, step: int) -> "Predictive":
        """One step alone: 0 is the day after the origin, -1 the last; samples are those of
        whole paths, cut to it."""
        only = slice(step, step + 1 or None)
        dispersion = self.dispersion
        if isinstance(dispersion, np.ndarray) and dispersion.shape[1] > 1:
            dispersion = dispersion[:, only]
        sampler = None
        if self.sampler is not None:
            sampler = partial(_of_steps, self.sampler, only)
        arrivals, patterns = self.arrivals[:, only], self.patterns[:, only]
        return Predictive(arrivals, patterns, dispersion, sampler, self.promise)

    def averaged(self) -> "Predictive":
        """The mean over seeds, as if they were one.

        Arrivals are averaged and probabilities weighted by each seed's arrivals, so that
        behaviour counts are averages too. How the seeds differ is no longer in it.
        """
        arrivals, total = self.arrivals, self.arrivals.sum(0)
        some = np.where(total > 0, total, 1.0)
        share = np.where(total > 0, arrivals / some, 1.0 / len(arrivals))
        patterns = (share[..., None] * self.patterns).sum(0)
        return Predictive(arrivals.mean(0)[None], patterns[None])

    @property
    def can_sample(self) -> bool:
        """Whether counts can be drawn from it."""
        return self.sampler is not None or self.dispersion is not None

    def sample(self, rng: np.random.Generator, paths: int) -> Drawn:
        """Draw `paths` paths of counts; path i is drawn from seed i modulo the number of seeds."""
        if paths < 1:
            raise InputError(f"paths is {paths}; draw at least one.")
        if self.sampler is not None:
            return self.sampler(rng, paths)
        if self.dispersion is None:
            raise InputError(
                "this forecast has a mean and no dispersion, so no counts can be drawn from it; "
                "give a dispersion, infinity for a Poisson."
            )
        seed = np.arange(paths) % len(self.arrivals)
        dispersion = np.broadcast_to(self.dispersion, self.arrivals.shape)
        arrivals = negative_binomial.draw(rng, self.arrivals[seed], dispersion[seed])
        return multinomial.draw(rng, arrivals, self.patterns[seed])

    def with_dispersion(self, dispersion: np.ndarray | float | None) -> "Predictive":
        return replace(self, dispersion=dispersion)


def _of_steps(
    sampler: Callable[[np.random.Generator, int], Drawn],
    steps: slice,
    rng: np.random.Generator,
    paths: int,
) -> Drawn:
    return sampler(rng, paths)[:, steps]
