r"""What innovations vary by, found on every day before the test days; what a crowd adds.

A crowd is trained by gradients through the filter and stopped by the validation days. Its
innovations' variances are few and have a prior that is the same for all tables, so every day may
speak of them: they are the mode of

.. math:: \sum_t \log p(C_t \mid C_{<t}, \theta_I) + \log p(\theta_I)

with what the crowd expects as an offset.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float
from scipy.optimize import minimize
from scipy.stats import t as student

from dgd.learning.loop import Attempt
from dgd.learning.objective import Objective
from dgd.learning.runs import Run
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Outcomes, Prediction
from dgd.model.innovations import Innovations, PatternParts, settling
from dgd.model.sweep import observe

CONFIDENCE = 0.999
"""With which a trained crowd must be better than where it started, over all days that are scored:
gradients have seen the training days and the validation days have chosen the epoch, so chance is
on its side."""
STEPS = 30
"""Of L-BFGS, at most: the prior leaves the mode near."""
FURTHEST = 4.0
"""No logarithm is looked for further from its prior value."""
PER_EVENT = 1e-3
"""What the log-posterior is multiplied by, so that first steps are short."""


def with_variances(
    runs: Sequence[Run], attempts: Sequence[Attempt], objective: Objective
) -> tuple[Run, ...]:
    """The runs with variances found on all of their days. Where what training changed has not
    shown, by Student's test, crowds are as they started: levels, swings and seasons then explain
    what there is to explain."""
    first = {attempt.seed: attempt for attempt in attempts}
    inputs, outcomes = attempts[0].data.train
    settled = []
    for run in runs:
        start = eqx.combine(first[run.seed].parameters, first[run.seed].data.fixed)
        before = _walked(objective, start, inputs, outcomes)
        after = _walked(objective, run.parameters, inputs, outcomes)
        gains = np.asarray(before.losses - after.losses)
        shown = _is_gain(gains[settling(len(gains)) :])
        best, expected = (
            (run, after.expected) if shown else (_taken_back(run, start), before.expected)
        )
        crowd = _at_the_mode(best.parameters, expected, inputs, outcomes)
        settled.append(replace(best, parameters=crowd))
    return tuple(settled)


def _is_gain(days: Float[np.ndarray, " day"]) -> bool:
    """Whether the mean over days is above 0 by Student's test."""
    if len(days) < 2:
        return False
    error = days.std(ddof=1) / np.sqrt(len(days))
    return bool(days.mean() > student.ppf(CONFIDENCE, len(days) - 1) * error)


def _taken_back(run: Run, start: Crowd) -> Run:
    """The run as if its first parameters had been its best."""
    return replace(
        run,
        parameters=start,
        best_epoch=0,
        best_objective=float(run.validation_objective[0]),
    )


class _Walked(NamedTuple):
    losses: Float[Array, " date"]
    expected: Prediction
    """Without innovations."""


@eqx.filter_jit
def _walked(objective: Objective, crowd: Crowd, inputs: Inputs, outcomes: Outcomes) -> _Walked:
    sweep = observe(crowd, inputs, outcomes, crowd.at_rest())
    told = crowd.log_likelihood(sweep.nodes, sweep.predictions, outcomes)
    return _Walked(objective.daily(sweep.predictions, outcomes, told), sweep.uncorrected)


def _at_the_mode(crowd: Crowd, expected: Prediction, inputs: Inputs, outcomes: Outcomes) -> Crowd:
    """The crowd whose innovations vary as its days say."""
    assert crowd.innovations is not None
    innovations = crowd.innovations
    free, fixed = eqx.partition(innovations.patterns, eqx.is_inexact_array)
    start, unravel = ravel_pytree(free)

    def target(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        patterns = eqx.combine(unravel(jnp.asarray(parameters)), fixed)
        value, slope = _posterior(patterns, innovations, expected, inputs.of_season, outcomes)
        return -PER_EVENT * float(value), -PER_EVENT * np.asarray(ravel_pytree(slope)[0])

    found = minimize(
        target,
        np.zeros(len(start)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-FURTHEST, FURTHEST)] * len(start),
        options={"maxiter": STEPS},
    )
    best = eqx.combine(unravel(jnp.asarray(found.x)), fixed)
    return replace(crowd, innovations=replace(innovations, patterns=best))


@eqx.filter_jit
@eqx.filter_value_and_grad
def _posterior(
    patterns: PatternParts,
    innovations: Innovations,
    expected: Prediction,
    season: Float[Array, "date place"],
    outcomes: Outcomes,
) -> Float[Array, ""]:
    innovations = replace(innovations, patterns=patterns)
    told = innovations.pattern_log_likelihood(expected, season, outcomes)
    return told[settling(len(told)) :].sum() + innovations.log_prior()
