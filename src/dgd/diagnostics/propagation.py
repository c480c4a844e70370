r"""How quadrature error travels through expected feedback, and what states can reach.

With exact and approximate updates Phi and Phi^, a Lipschitz constant L_t of Phi
between the two paths, and e_t = \|Phi^(s^_t) - Phi(s^_t)\|,

.. math:: E_{t+1} \le L_t E_t + e_t, \qquad E_t = \|\hat s_t - s_t\|

Memory and fatigue stay in [0, 1], the arrival states decay, and the shift obeys

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
from dgd.model.days import Inputs
from dgd.model.feedback import State
from dgd.model.model import Model
from dgd.panel.sequences import days_ahead
from dgd.runtime import computing

HORIZON = 7
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
            model: Model = run.parameters
            path = propagate(model, model.with_nodes(exact_nodes), state, ahead)
            rows += [{"seed": run.seed, **row} for row in path]
    return pl.DataFrame(rows)


def propagate(
    model: Model, exact: Model, state: State, ahead: Sequence[Inputs]
) -> Iterator[dict[str, Any]]:
    """Day after day, how far `model` has gone from `exact`, and what the recursion allows."""
    far, near, bound = state, state, 0.0
    for day, inputs in enumerate(ahead, start=1):
        step = _step(exact, model, far, near, inputs)
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
    """One row per seed and day: the shift and its bound, the reach of memory and fatigue."""
    rows = []
    with computing():
        ahead, first = _path_inputs(fit, horizon)
        for run, state in zip(fit.runs, first, strict=True):
            rows += [{"seed": run.seed, **row} for row in limits(run.parameters, state, ahead)]
    return pl.DataFrame(rows)


def limits(model: Model, start: State, ahead: Sequence[Inputs]) -> Iterator[dict[str, Any]]:
    """Day after day of expected feedback, the states and whether they keep their bounds."""
    kept, push = float(model.feedback.shift_retention), float(model.feedback.strongest_push())
    state = start
    for day, inputs in enumerate(ahead, start=1):
        state = expected_update(model, state, inputs)
        bound = kept**day * _largest(start.shift) + push * (1 - kept**day) / (1 - kept)
        within = all(
            float(x.min()) >= -ROUNDING and float(x.max()) <= 1 + ROUNDING
            for x in (state.memory, state.fatigue)
        )
        decayed = _largest(state.common) <= _largest(start.common) + ROUNDING
        yield {
            "day": day,
            "shift": _largest(state.shift),
            "shift bound": bound,
            "memory": _largest(state.memory),
            "fatigue": _largest(state.fatigue),
            "environment": _largest(state.common),
            "holds": _largest(state.shift) <= bound + ROUNDING and within and decayed,
        }


def _path_inputs(fit: Fit, horizon: int) -> tuple[list[Inputs], list[State]]:
    """Inputs of the panel's last `horizon` days, and each seed's state before them."""
    origin = fit.panel.days - 1 - horizon
    if origin < fit.split.first:
        raise InputError(
            f"horizon {horizon} is longer than the {fit.panel.days - fit.split.first - 1} days "
            "since the first training day; ask for fewer days."
        )
    at = np.array([origin])
    ahead = days_ahead(fit.panel, fit.features, at, horizon)
    places = at + 1 - fit.split.first
    return ahead, [jax.tree.map(lambda x: x[places], states) for states in fit.states]


@eqx.filter_jit
def expected_update(model: Model, state: State, inputs: Inputs) -> State:
    """Phi: one day on, with the model's own expectations as feedback."""
    expected = model.predict(state, inputs)
    return model.advance(state, inputs, expected, expected.arrivals, expected.behaviors)


@eqx.filter_jit
def _step(exact: Model, model: Model, state: State, near: State, inputs: Inputs) -> Step:
    following = expected_update(exact, state, inputs)
    near_following = expected_update(model, near, inputs)
    own = _distance(near_following, expected_update(exact, near, inputs))
    vector, unravel = ravel_pytree(state)
    other, _ = ravel_pytree(near)

    def stretch(place: float) -> Array:
        slope = jax.jacrev(lambda x: ravel_pytree(expected_update(exact, unravel(x), inputs))[0])(
            vector + place * (other - vector)
        )
        return jnp.linalg.norm(slope, 2)

    lipschitz = jnp.stack([stretch(place) for place in ALONG]).max()
    return Step(following, near_following, own, lipschitz)


def _distance(one: State, other: State) -> Float[Array, ""]:
    return jnp.linalg.norm(ravel_pytree(one)[0] - ravel_pytree(other)[0])


def _largest(values: Array) -> float:
    return float(np.abs(np.asarray(values)).max())
