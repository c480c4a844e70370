"""What a day's outcomes tell the crowd: rates and dose of each cohort, surprises of each unit."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from dgd.model.days import CohortTotals
from dgd.model.reference import Reference

RATE_SMOOTHING = 2.0
"""How many arrivals at the reference rate are added when rates are taken."""


class Signals(NamedTuple):
    """What a day's outcomes tell each cohort."""

    rates: Float[Array, "date cohort behavior"]
    """v: smoothed behaviour rates."""
    dose: Float[Array, "date cohort"]
    """o: contacts per reference person."""


class Innovation(NamedTuple):
    """How far arrivals departed from their prediction, in logs."""

    mean: Float[Array, " date"]
    departure: Float[Array, "date unit"]


def signals(totals: CohortTotals, reference: Reference) -> Signals:
    r"""Rates and dose of each cohort, summed over units.

    .. math:: v = \frac{\sum_j Y + 2 v^0}{\sum_j N + 2}, \qquad
        o = \frac{\sum_j N}{\max(1, n_{ref})}
    """
    contacts = totals.arrivals
    shown = totals.behaviors + RATE_SMOOTHING * reference.rates[None]
    rates = shown / (contacts + RATE_SMOOTHING)[..., None]
    return Signals(rates, contacts / jnp.maximum(1.0, reference.size)[None])


def innovation(
    arrivals: Float[Array, "date unit"],
    expected: Float[Array, "date unit"],
    active: Float[Array, "date unit"],
) -> Innovation:
    r"""xi = log(1 + N) - log(1 + Nhat), its mean over active units, and departures from it."""
    log_ratio = jnp.log1p(arrivals) - jnp.log1p(expected)
    mean = (active * log_ratio).sum(-1) / jnp.maximum(1.0, active.sum(-1))
    return Innovation(mean, active * (log_ratio - mean[:, None]))
