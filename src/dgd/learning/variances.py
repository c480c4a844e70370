r"""What innovations vary by, found on every day before the test days; what a crowd adds.

A crowd is trained by gradients through the filter and stopped by the validation days. Its
innovations' variances are few and have a prior that is the same for all tables, so every day may
speak of them: they are the mode of

.. math:: \sum_t \log p(C_t \mid C_{<t}, \theta_I) + \log p(\theta_I)

with what the crowd expects as an offset.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float
from scipy.optimize import minimize

from dgd.learning.loop import Attempt
from dgd.learning.objective import Objective
from dgd.learning.runs import Run
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Outcomes, Prediction
from dgd.model.innovations import SETTLING_DAYS, Innovations
from dgd.model.sweep import observe

STANDARD_ERRORS = 2.0
"""By which a trained crowd must be better on the validation days than where it started."""
STEPS = 30
"""Of L-BFGS, at most: the prior leaves the mode near."""
FURTHEST = 4.0
"""Prior standard deviations that no logarithm is looked for beyond."""
PER_EVENT = 1e-3
"""What the log-posterior is multiplied by, so that first steps are short."""


def with_variances(
    runs: Sequence[Run], attempts: Sequence[Attempt], objective: Objective
) -> tuple[Run, ...]:
    """The runs with variances found on all of their days. Where what training changed has not
    shown on the validation days, by two standard errors, crowds are as they started: levels,
    swings and seasons then explain what there is to explain."""
    first = {attempt.seed: attempt for attempt in attempts}
    inputs, outcomes = attempts[0].data.train
    since = int(attempts[0].data.validation)
    starts = [eqx.combine(first[run.seed].parameters, first[run.seed].data.fixed) for run in runs]
    found = [
        [_walked(objective, crowd, inputs, outcomes) for crowd in (start, run.parameters)]
        for start, run in zip(starts, runs, strict=True)
    ]
    gain = np.mean([np.asarray(one[0].losses - one[1].losses) for one in found], 0)[since:]
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.inf
    shown = bool(gain.mean() > STANDARD_ERRORS * error)
    if not shown:
        runs = [_taken_back(run, start) for run, start in zip(runs, starts, strict=True)]
    return tuple(
        replace(run, parameters=_at_the_mode(run.parameters, one[shown].expected, inputs, outcomes))
        for run, one in zip(runs, found, strict=True)
    )


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
    free, fixed = eqx.partition(crowd.innovations, eqx.is_inexact_array)
    start, unravel = ravel_pytree(free)

    def target(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        innovations = eqx.combine(unravel(jnp.asarray(parameters)), fixed)
        value, slope = _posterior(innovations, expected, inputs.of_season, outcomes)
        return -PER_EVENT * float(value), -PER_EVENT * np.asarray(ravel_pytree(slope)[0])

    found = minimize(
        target,
        np.zeros(len(start)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-FURTHEST, FURTHEST)] * len(start),
        options={"maxiter": STEPS},
    )
    best: Any = eqx.combine(unravel(jnp.asarray(found.x)), fixed)
    return eqx.tree_at(lambda whole: whole.innovations, crowd, best)


@eqx.filter_jit
@eqx.filter_value_and_grad
def _posterior(
    innovations: Innovations,
    expected: Prediction,
    season: Float[Array, "date place"],
    outcomes: Outcomes,
) -> Float[Array, ""]:
    told = innovations.pattern_log_likelihood(expected, season, outcomes)
    settled = min(SETTLING_DAYS, len(told) // 3)
    return told[settled:].sum() + innovations.log_prior()
