r"""What units have in common in their arrivals: those of which little is known are like that.

Units of a panel differ by a gamma law, and their cohorts' shares by a Dirichlet law,

.. math:: N_{ug} \sim \mathrm{Poisson}(\rho_u\, s_{ug} E_{ug}), \qquad
    \rho_u \sim \mathrm{Gamma}(\text{shape } \alpha, \text{ mean } m), \qquad
    s_u \sim \mathrm{Dirichlet}(A\, p)

with exposure E: days, or the effort of days. The strengths alpha and A are in arrivals: a unit with
alpha of its own is believed by half, and the shares of its cohorts when it has A. Both follow from
the first two moments of the counts of units and cells, in closed form.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

STRENGTHS = (0.1, 1e6)
"""The least and the most arrivals that what is common may be worth."""
FLAT_ARRIVALS = 20.0
"""Arrivals that a flat rhythm of all is worth to begin with, and that of all to every cohort."""
LEAST_RATE = 1e-9
"""Nothing is divided by less."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """What a unit's arrivals are drawn to, and how strongly."""

    rate: float
    """m: arrivals that a unit has per exposure."""
    unit_strength: float
    """alpha."""
    cell_strength: float
    """A."""
    shares: Float[np.ndarray, " cohort"]
    """p: of every cohort in the arrivals of a unit."""
    rhythm: Float[np.ndarray, "place cohort"]
    """How busy each place of the cycle is; 1 on the average."""

    @staticmethod
    def learned(
        counts: Float[np.ndarray, "day unit cohort"],
        exposure: Float[np.ndarray, "day unit cohort"],
        places: Int[np.ndarray, " day"],
        cycle: int,
    ) -> "Hierarchy":
        """Moments of the days given."""
        seen, tried = counts.sum(0), exposure.sum(0)
        rates = (seen.sum(0) + LEAST_RATE) / np.maximum(tried.sum(0), LEAST_RATE)
        shares = rates / rates.sum()
        own, worked = seen.sum(1), np.maximum(tried @ shares, LEAST_RATE)
        rate = float((own.sum() + LEAST_RATE) / worked.sum())
        expected = rate * worked
        scatter = ((own - expected) ** 2 - expected).sum() / (expected**2).sum()
        return Hierarchy(
            rate,
            _strength(scatter),
            _cell_strength(seen, own, tried * shares / worked[:, None]),
            shares,
            _rhythm(counts.sum(1), exposure.sum(1) * rates, places, cycle),
        )

    def shrunken(
        self,
        counts: Float[np.ndarray, "*half_life unit cohort"],
        exposure: Float[np.ndarray, "*half_life unit cohort"],
    ) -> Float[np.ndarray, "*half_life unit cohort"]:
        """Arrivals of every cell per exposure: its unit's rate, drawn to that of all, times its
        share, drawn to that of its cohort."""
        own = counts.sum(-1, keepdims=True)
        worked = (exposure @ self.shares)[..., None]
        rate = (own + self.unit_strength) / (worked + self.unit_strength / self.rate)
        usual = own * exposure / np.maximum(worked, LEAST_RATE)
        share = (counts + self.cell_strength * self.shares) / (usual + self.cell_strength)
        return np.asarray(rate * share)


def _strength(scatter: float) -> float:
    """Arrivals that are worth as much as what is common, by how far units scatter around it."""
    return float(np.clip(1 / max(float(scatter), 1 / STRENGTHS[1]), *STRENGTHS))


def _cell_strength(
    seen: Float[np.ndarray, "unit cohort"],
    own: Float[np.ndarray, " unit"],
    likely: Float[np.ndarray, "unit cohort"],
) -> float:
    """A, by how much further than chance cells are from their `likely` part of their unit's."""
    chance = 1 - (likely**2).sum(1)
    apart = ((seen - own[:, None] * likely) ** 2).sum() - (own * chance).sum()
    pairs = (own * (own - 1) * chance).sum()
    alike = apart / pairs if pairs > 0 else 0.0
    return _strength(alike / (1 - alike)) if alike < 1 else STRENGTHS[0]


def _rhythm(
    seen: Float[np.ndarray, "day cohort"],
    expected: Float[np.ndarray, "day cohort"],
    places: Int[np.ndarray, " day"],
    cycle: int,
) -> Float[np.ndarray, "place cohort"]:
    """How busy each place is beside what a flat rhythm expects, cohorts drawn to all of them."""
    at = np.eye(cycle)[places]
    counted, flat = at.T @ seen, at.T @ expected
    of_all = (counted.sum(1) + FLAT_ARRIVALS) / (flat.sum(1) + FLAT_ARRIVALS)
    return np.asarray((counted + FLAT_ARRIVALS * of_all[:, None]) / (flat + FLAT_ARRIVALS))
