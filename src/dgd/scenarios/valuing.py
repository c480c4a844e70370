"""The worth of effort on the days that are planned, what it leaves behind included.

Days after the horizon keep the effort that is planned for them. What they bring more or less than
they would after the present plan is part of a plan's worth; else it would pay to leave people
tired at the end.
"""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from dgd.model.crowd import Crowd
from dgd.model.feedback.feedback import State
from dgd.runtime import computing
from dgd.scenarios.bounded import held_near
from dgd.scenarios.expecting import Expecting
from dgd.scenarios.plan_worth import PlanWorth, worth_and_slope
from dgd.scenarios.planned_fit import DrawingFit
from dgd.scenarios.solving import Worth

CAUTIOUS_DRAWS = 24
"""Draws of the parameters that a quantile is taken of."""


def worth_of(
    fit: DrawingFit,
    expecting: Expecting,
    horizon: int,
    weights: Float[np.ndarray, " series"],
    quantile: float | None,
    seed: int,
) -> Worth:
    """The compiled worth of an effort on the first `horizon` days, with its slope."""
    crowds: Sequence[Crowd] = expecting.crowds
    firsts: Sequence[State] = expecting.firsts
    forecasts = [level.forecast for level in expecting.levels]
    planned = expecting.outlook.planned
    with computing():
        if quantile is not None:
            drawn = fit.parameter_draws(CAUTIOUS_DRAWS, seed)
            crowds, firsts = held_near(fit, drawn, expecting.outlook.day)
            forecasts = [expecting.forecast] * len(crowds)
        inputs = expecting.inputs(planned)
        objective = PlanWorth.of(crowds, firsts, inputs, forecasts, jnp.asarray(weights), quantile)
    afterwards = float(expecting.planned_series()[horizon:].sum((0, 1, 2)) @ weights)

    def worth(effort: np.ndarray) -> tuple[float, np.ndarray]:
        whole = np.concatenate([effort, planned.effort[horizon:]])
        with computing():
            value, slope = worth_and_slope(objective, jnp.asarray(whole))
            return float(value) - afterwards, np.asarray(slope)[:horizon]

    return worth
