r"""How quadrature error travels through expected feedback, and what states can reach.

With exact and approximate updates Phi and Phi^, a Lipschitz constant L_t of Phi
between the two paths, and e_t = \|Phi^(s^_t) - Phi(s^_t)\|,

.. math:: E_{t+1} \le L_t E_t + e_t, \qquad E_t = \|\hat s_t - s_t\|

Memory and fatigue stay in [0, 1], the arrival environment decays, and the shift obeys

.. math:: \|\delta_t\|_\infty \le \rho^t \|\delta_0\|_\infty + M_B \frac{1-\rho^t}{1-\rho}
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from dgd.diagnostics.bounds import ROUNDING
from dgd.diagnostics.nodes import finer_than
from dgd.errors import InputError
from dgd.fit import Fit
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs
from dgd.model.feedback.feedback import State
from dgd.runtime import computing

HORIZON = 7
LIMITS = {
    "seed": pl.Int64,
    "day": pl.Int64,
    "state": pl.String,
    "largest": pl.Float64,
    "bound": pl.Float64,
    "holds": pl.Boolean,
}
ALONG = (0.0, 1.0)
"""Where between the two paths the slope of the update is taken; the paths are so close
that it hardly changes from one end to the other."""


class Step(NamedTuple):
    """One expected-feedback update on both paths."""

    exact: State
    near: State
    own_error: Float[Array, ""]
    """e_t: how far the approximate update lands from the exact one, from the same state."""
    lipschitz: Float[Array, ""]
    """L_t: the largest stretch of the exact update between the two paths."""


def error_propagation(
    fit: Fit, horizon: int = HORIZON, exact_nodes: int | None = None
) -> pl.DataFrame:
    """One row per seed and day of an expected-feedback path that ends with the panel.

    `error` is the distance between the path at the fit's nodes and at `exact_nodes`, `bound`
    what the recursion allows.
    """
    exact_nodes = exact_nodes or max(finer_than(fit.settings.nodes))
    rows = []
    with computing():
        ahead, first = _path_inputs(fit, horizon)
        for run, state in zip(fit.runs, first, strict=True):
            crowd: Crowd = run.parameters
            path = propagate(crowd, crowd.with_nodes(exact_nodes), state, ahead)
            rows += [{"seed": run.seed, **row} for row in path]
    return pl.DataFrame(rows)


def propagate(
    crowd: Crowd, exact: Crowd, state: State, ahead: Sequence[Inputs]
) -> Iterator[dict[str, Any]]:
    """Day after day, how far `crowd` has gone from `exact`, and what the recursion allows."""
    far, near, bound = state, state, 0.0
    for day, inputs in enumerate(ahead, start=1):
        step = _step(exact, crowd, far, near, inputs)
        far, near = step.exact, step.near
        bound = float(step.lipschitz) * bound + float(step.own_error)
        error = float(_distance(near, far))
        yield {
            "day": day,
            "error": error,
            "bound": bound,
            "stretch": float(step.lipschitz),
            "holds": error <= bound + ROUNDING,
        }


def state_limits(fit: Fit, horizon: int = HORIZON) -> pl.DataFrame:
    """One row per seed, day and state: how large it is, and what it cannot exceed."""
    rows = []
    with computing():
        ahead, first = _path_inputs(fit, horizon)
        for run, state in zip(fit.runs, first, strict=True):
            rows += [{"seed": run.seed, **row} for row in limits(run.parameters, state, ahead)]
    return pl.DataFrame(rows, schema=LIMITS)


def limits(crowd: Crowd, start: State, ahead: Sequence[Inputs]) -> Iterator[dict[str, Any]]:
    """Day after day of expected feedback, the states and whether they keep their bounds."""
    state = start
    for day, inputs in enumerate(ahead, start=1):
        state = expected_update(crowd, state, inputs)
        for part in crowd.feedback.carried:
            bound = part.reach(start.carried[part.name], day)
            yield _limit(day, part.name, state.carried[part.name], bound)
        # Expected feedback surprises nobody: the environment can only decay.
        environment = state.environment.common
        yield _limit(day, "environment", environment, _largest(start.environment.common))


def _limit(day: int, state: str, values: Array, bound: float) -> dict[str, Any]:
    largest = _largest(values)
    holds = largest <= bound + ROUNDING
    return {"day": day, "state": state, "largest": largest, "bound": bound, "holds": holds}


def _path_inputs(fit: Fit, horizon: int) -> tuple[list[Inputs], list[State]]:
    """Inputs of the panel's last `horizon` days, and each seed's state before them."""
    origin = fit.panel.days - 1 - horizon
    if origin < fit.split.first:
        raise InputError(
            f"horizon {horizon} is longer than the {fit.panel.days - fit.split.first - 1} days "
            "since the first training day; ask for fewer days."
        )
    at = np.array([origin])
    first = [fit.carried(number, at) for number in range(len(fit.runs))]
    return fit.ahead(fit.panel, at, horizon), first


@eqx.filter_jit
def expected_update(crowd: Crowd, state: State, inputs: Inputs) -> State:
    """Phi: one day on, with the crowd's own expectations as feedback."""
    expected = crowd.predict(state, inputs)
    return crowd.advance(state, inputs, expected, expected.arrivals, expected.behaviors)


@eqx.filter_jit
def _step(exact: Crowd, crowd: Crowd, state: State, near: State, inputs: Inputs) -> Step:
    following = expected_update(exact, state, inputs)
    near_following = expected_update(crowd, near, inputs)
    own = _distance(near_following, expected_update(exact, near, inputs))
    vector, unravel = ravel_pytree(state)
    other, _ = ravel_pytree(near)

    def stretch(share: float) -> Array:
        slope = jax.jacrev(lambda x: ravel_pytree(expected_update(exact, unravel(x), inputs))[0])(
            vector + share * (other - vector)
        )
        return jnp.linalg.norm(slope, 2)

    lipschitz = jnp.stack([stretch(share) for share in ALONG]).max()
    return Step(following, near_following, own, lipschitz)


def _distance(one: State, other: State) -> Float[Array, ""]:
    return jnp.linalg.norm(ravel_pytree(one)[0] - ravel_pytree(other)[0])


def _largest(values: Array) -> float:
    return float(np.abs(np.asarray(values)).max())
