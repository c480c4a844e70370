r"""Which cells to vary next: where a week of varied effort tells most about a plan's worth.

A plan rests on the elasticity of contact, epsilon of each cohort, which parameter draws leave
within a standard deviation s. A week in which a cell's effort is halved and raised by half in turn
adds to its precision the Fisher information of Poisson arrivals,

.. math:: \frac{1}{s'^2} = \frac{1}{s^2} + \sum_t m_t\, Var(\log e), \qquad
    gain = \Big|\frac{\partial J}{\partial \epsilon}\Big| (s - s')

with m the arrivals expected of the cell. The gain is by how much less the worth of the plan is in
doubt.
"""

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.model.effort import EffortCurve
from dgd.panel.continuing import CYCLES
from dgd.runtime import computing
from dgd.scenarios.expecting import Expecting
from dgd.scenarios.planned_fit import DrawingFit
from dgd.scenarios.ranges import learned_effort

PARAMETER_DRAWS = 32
TRIED = (0.5, 1.5)
"""Multiples of effort that are tried in turn."""
UNKNOWN = 1 / np.sqrt(12)
"""Standard deviation of an elasticity of which nothing is known but that it lies in 0 to 1."""


def learn_next(
    expecting: Expecting,
    now: Float[np.ndarray, "step unit cohort"],
    effort: Float[np.ndarray, "step unit cohort"],
    slope: Float[np.ndarray, "step unit cohort"],
) -> pl.DataFrame:
    """One row per unit and cohort, the most useful first; `slope` is that of the worth at
    `effort`."""
    fit, panel = expecting.fit, expecting.outlook.panel
    cohorts = len(panel.cohorts)
    learned = learned_effort(fit)
    with computing():
        curve = EffortCurve.mean([crowd.effort.curve(cohorts) for crowd in fit.crowds])
        drawn = []
        if learned.any() and isinstance(fit, DrawingFit):
            draws = fit.parameter_draws(PARAMETER_DRAWS)
            drawn = [crowd.effort.curve(cohorts).elasticity for crowd in draws]
    spread = np.std(drawn, axis=0) if drawn else np.zeros(cohorts)
    doubt = np.where(learned, spread, UNKNOWN)
    pull = np.abs(_pull(curve, now, effort, slope))
    week = CYCLES[panel.period.name]
    arrivals = week * expecting.planned_series()[..., 0].mean(0)
    told = arrivals * np.var(np.log(TRIED))
    after = doubt / np.sqrt(1 + doubt**2 * told)
    unit, cohort = (i.ravel() for i in np.indices(arrivals.shape))
    table = pl.DataFrame(
        {
            panel.columns.unit: [panel.units[i] for i in unit],
            panel.columns.cohort: [panel.cohorts[i] for i in cohort],
            "elasticity": curve.elasticity[cohort],
            "learned": learned[cohort],
            "sd": doubt[cohort],
            "sd_after": after.ravel(),
            "objective_in_doubt": (pull * doubt)[cohort],
            "gain": (pull * (doubt - after)).ravel(),
        }
    )
    return table.sort("gain", descending=True, maintain_order=True)


def _pull(
    curve: EffortCurve, now: np.ndarray, effort: np.ndarray, slope: np.ndarray
) -> Float[np.ndarray, " cohort"]:
    """dJ/d epsilon of each cohort: by how much the plan's worth hangs on it.

    Levels are those of the plan as it is now, so that an elasticity matters only where effort
    departs from it.
    """
    some = (now > 0) & (effort > 0)

    def moved(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How log contact answers to log effort and to the elasticity."""
        log = np.log(np.where(some, value, curve.usual) / curve.usual)
        unsaturated = 1 / (1 + curve.saturation * np.exp(curve.elasticity * log))
        return curve.elasticity * unsaturated, log * unsaturated

    by_effort, ours = moved(effort)
    _, theirs = moved(now)
    of_log_contact = slope * effort / np.maximum(by_effort, 1e-12)
    return np.where(some, of_log_contact * (ours - theirs), 0.0).sum((0, 1))
