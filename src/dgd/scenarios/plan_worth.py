r"""What a plan is worth, as a function of effort that can be differentiated.

.. math:: J(e) = \sum_s a_s \sum_{tjg} \hat Y_{s,tjg}(e)

with the expected arrivals and behaviours of a scenario. For the cautious, J is taken for every
draw of the parameters, and a quantile of these is the worth: that of Harrell and Davis, a mean of
all draws with most weight near the quantile, which is steadier than a single draw and bends where
that one breaks. Crowds are one batch and days one scan, so a horizon compiles once.

Days after the horizon keep the effort that is planned for them. What they bring more or less than
they would after the present plan is part of a plan's worth; else it would pay to leave people
tired at the end.
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree
from scipy.special import betainc

from dgd.forecasting.futures import stacked
from dgd.forecasting.rollout import predictions_alone, walk
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs
from dgd.model.feedback.feedback import State
from dgd.runtime import computing
from dgd.scenarios.expecting import Expecting, days_of, series_of
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
    of = expecting if quantile is None else expecting.drawn(fit, CAUTIOUS_DRAWS, seed)
    planned = expecting.outlook.planned
    with computing():
        order = jnp.asarray(order_weights(len(of.crowds), quantile))
        crowds = (stacked(of.crowds), stacked(of.firsts))
        objective = PlanWorth(*crowds, of.inputs(planned), jnp.asarray(weights), order)
    afterwards = float(expecting.planned_series()[horizon:].sum((0, 1, 2)) @ weights)

    def worth(effort: np.ndarray) -> tuple[float, np.ndarray]:
        whole = np.concatenate([effort, planned.effort[horizon:]])
        with computing():
            value, slope = _worth_and_slope(objective, jnp.asarray(whole))
            return float(value) - afterwards, np.asarray(slope)[:horizon]

    return worth


class PlanWorth(eqx.Module):
    """The worth of effort on the days ahead."""

    crowds: PyTree
    """Several crowds as one, arrays with a leading axis over them."""
    firsts: PyTree
    """What each carries into the first day ahead, likewise."""
    inputs: Inputs
    weights: Float[Array, " series"]
    order: Float[Array, " crowd"]
    """How much the worst crowd's total counts, the second worst's, and so on."""

    def __call__(self, effort: Float[Array, "date unit cohort"]) -> Float[Array, ""]:
        days = jax.tree.map(lambda x: x[:, None], replace(self.inputs, effort=effort))

        def total(crowd: Crowd, first: State) -> Float[Array, ""]:
            _, path = walk(predictions_alone, crowd, first, days)
            return (series_of(days_of(path)).sum((0, 1, 2)) * self.weights).sum()

        return (jnp.sort(eqx.filter_vmap(total)(self.crowds, self.firsts)) * self.order).sum()


def order_weights(draws: int, quantile: float | None) -> Float[np.ndarray, " draw"]:
    r"""Weights of the draws from the smallest on; without a quantile, those of their mean.

    .. math:: w_i = B(i/n) - B((i-1)/n)

    with B the distribution function of Beta(q (n + 1), (1 - q) (n + 1)).
    """
    if quantile is None:
        return np.full(draws, 1 / draws)
    ends = np.linspace(0.0, 1.0, draws + 1)
    below = betainc(quantile * (draws + 1), (1 - quantile) * (draws + 1), ends)
    return np.asarray(np.diff(below))


@eqx.filter_jit
def _worth_and_slope(
    objective: PlanWorth, effort: Float[Array, "date unit cohort"]
) -> tuple[Float[Array, ""], Float[Array, "date unit cohort"]]:
    """The worth, and what a little more effort in each cell adds to it."""
    return jax.value_and_grad(objective)(effort)
