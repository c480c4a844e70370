r"""What units have in common, and how far each may depart from it before its counts say so.

Arrivals of a unit are drawn to those of its cohorts, its cells to the unit: two gamma-Poisson
levels, in which a strength k counts arrivals,

.. math:: m_{ug} = E_{ug} \frac{N_u + k}{E_u + k}, \qquad
    \hat\lambda_{ug} \propto m_{ug} \frac{N_{ug} + k_g}{m_{ug} + k_g}

with E what a unit of its cohorts' mean rates would have. The log-odds of a behaviour depart by a
normal number of variance 1 / kappa. Strengths come from the data, by the method of moments:
where units differ no more than chance lets them, they are large, and units are alike.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from dgd.panel.panel import Panel
from dgd.processes.group import ALONE, Group

MANY_UNITS = 30
"""With fewer units their variance cannot be told, and each is believed at its word."""
WEAKEST, STRONGEST = 0.5, 1e3
"""Strengths in arrivals: from nearly nothing to units that are hardly told apart."""
MOST_LOG_ODDS = 3.0
"""How far a unit's behaviour may depart where training starts."""
TURNS = 8
"""Of weights and strengths; both have settled by then."""
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class UnitPrior:
    """Where units start and how strongly they are held there."""

    log_mean: Float[np.ndarray, "unit cohort"]
    """Log-rate per person of a unit before its cells say more."""
    arrival: Float[np.ndarray, "unit cohort"]
    """Where the learned departure from it starts."""
    response: Float[np.ndarray, "unit behavior"]
    """Where the departures of the log-odds start."""
    arrival_strength: Float[np.ndarray, " cohort"]
    """k_g."""
    response_strength: Float[np.ndarray, " behavior"]
    """kappa."""


@dataclass(frozen=True, eq=False)
class UnitSums:
    """What the hierarchy reads of a panel's days: sums over days of every cell and unit."""

    arrivals: Float[np.ndarray, "unit cohort"]
    people: Float[np.ndarray, "unit cohort"]
    """n e, added up."""
    behaviors: Float[np.ndarray, "unit behavior"]

    @staticmethod
    def of(panel: Panel, days: slice, people: Float[np.ndarray, "unit cohort"]) -> "UnitSums":
        """Of those days, on which effort reached so many people of every cell."""
        people = np.where(people > 0, people, panel.size[days].sum(0))
        counts = panel.counts.between(days.start, days.stop)
        return UnitSums(
            counts.arrivals().sum(0).astype(np.float64), people, counts.of_unit_behaviors()
        )


def unit_prior(
    sums: UnitSums, rates: Float[np.ndarray, "cohort behavior"], group: Group = ALONE
) -> UnitPrior:
    """The hierarchy that all units' sums speak for, those of other processes of the `group`
    included; `rates` are the cohorts' behaviour rates."""
    arrivals, people = sums.arrivals, sums.people
    of_cohort = (group.sum(arrivals.sum(0)) + 0.5) / group.sum(people.sum(0))
    expected = people * of_cohort
    total, own = expected.sum(1), arrivals.sum(1)
    strength = _strengths(group, (own - total)[:, None], total[:, None])[0]
    mean = expected * ((own + strength) / (total + strength))[:, None]
    held = _strengths(group, arrivals - mean, mean)
    shown = arrivals @ rates
    chance = arrivals @ (rates * (1 - rates))
    surprise = sums.behaviors - shown
    kappa = _strengths(group, surprise, chance)
    return UnitPrior(
        log_mean=np.log(mean / people),
        arrival=np.log((arrivals + held) / (mean + held)),
        response=np.clip(surprise / (chance + kappa), -MOST_LOG_ODDS, MOST_LOG_ODDS),
        arrival_strength=held,
        response_strength=kappa,
    )


def _strengths(
    group: Group, error: Float[np.ndarray, "unit kind"], chance: Float[np.ndarray, "unit kind"]
) -> Float[np.ndarray, " kind"]:
    r"""k of every kind, from errors whose variance is c + c^2 / k, c that of chance.

    Squared errors beyond chance are weighed by their own variance, about 2 (c + c^2 / k)^2 + c, so
    that a few units of great size do not decide; weights and k are found in turn.
    """
    excess, square = error**2 - chance, chance**2
    found = np.ones(error.shape[1])
    for _ in range(TURNS):
        weight = 1 / (2 * (chance + square / found) ** 2 + chance + TINY)
        variance = group.sum((weight * excess).sum(0)) / np.maximum(
            group.sum((weight * square).sum(0)), TINY
        )
        found = np.clip(1 / np.maximum(variance, TINY), WEAKEST, STRONGEST)
    return found
