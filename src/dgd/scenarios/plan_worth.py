r"""What a plan is worth, as a function of effort that can be differentiated.

.. math:: J(e) = \sum_s a_s \sum_{tjg} \hat Y_{s,tjg}(e)

with the expected arrivals and behaviours of a scenario: the level of the forecast, moved by the
model. For the cautious, J is taken for every draw of the parameters, and a quantile of these
is the worth: that of Harrell and Davis, a mean of all draws with most weight near the quantile,
which is steadier than a single draw and bends where that one breaks. Crowds are one batch and days
one scan, so a horizon compiles once.
"""

from collections.abc import Sequence
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree
from scipy.special import betainc

from dgd.forecasting.futures import stacked
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Prediction
from dgd.model.feedback.feedback import State
from dgd.scenarios.level import Level, series_of
from dgd.scenarios.paths import walk


class PlanWorth(eqx.Module):
    """The worth of effort on the days ahead."""

    crowds: PyTree
    """Several crowds as one, arrays with a leading axis over them."""
    firsts: PyTree
    """What each carries into the first day ahead, likewise."""
    inputs: Inputs
    level: Level
    """Of every crowd, likewise."""
    weights: Float[Array, " series"]
    order: Float[Array, " crowd"]
    """How much the worst crowd's total counts, the second worst's, and so on."""

    @staticmethod
    def of(
        crowds: Sequence[Crowd],
        firsts: Sequence[State],
        inputs: Inputs,
        forecasts: Sequence[Prediction],
        weights: Float[Array, " series"],
        quantile: float | None,
    ) -> "PlanWorth":
        """The worth around what is planned in `inputs`, with each crowd's forecast of it."""
        many, states = stacked(crowds), stacked(firsts)
        level = Level(stacked(forecasts), _walked_by_all(many, states, inputs))
        order = jnp.asarray(order_weights(len(crowds), quantile))
        return PlanWorth(many, states, inputs, level, weights, order)

    def __call__(self, effort: Float[Array, "date unit cohort"]) -> Float[Array, ""]:
        days = replace(self.inputs, effort=effort)
        found = walk_all(self.crowds, self.firsts, days)
        totals = jax.vmap(self._total)(self.level, found)
        return (jnp.sort(totals) * self.order).sum()

    def _total(self, level: Level, model: Prediction) -> Float[Array, ""]:
        return (series_of(level.moved(model)).sum((0, 1, 2)) * self.weights).sum()


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


def walk_all(crowds: PyTree, firsts: PyTree, days: Inputs) -> Prediction:
    """The expected path of every crowd, on a leading axis."""

    def of_one(crowd: Crowd, first: State) -> Prediction:
        return walk(crowd, first, days).prediction

    return eqx.filter_vmap(of_one)(crowds, firsts)


_walked_by_all = eqx.filter_jit(walk_all)


@eqx.filter_jit
def worth(objective: PlanWorth, effort: Float[Array, "date unit cohort"]) -> Float[Array, ""]:
    return objective(effort)


@eqx.filter_jit
def worth_and_slope(
    objective: PlanWorth, effort: Float[Array, "date unit cohort"]
) -> tuple[Float[Array, ""], Float[Array, "date unit cohort"]]:
    """The worth, and what a little more effort in each cell adds to it."""
    return jax.value_and_grad(objective)(effort)
