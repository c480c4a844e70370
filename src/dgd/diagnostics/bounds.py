r"""Error bounds of quadrature, beside the errors themselves.

The probability of a pattern is a ratio q = A / D of integrals. Where D is
known to within e_D and A to within e_A, and D >= d_0 > e_D,

.. math:: |\hat q - q| \le \frac{e_A + e_D}{d_0 - e_D}, \qquad
    \|\nabla\hat q - \nabla q\| \le
    \frac{e_{\nabla A} + e_{\nabla D} + |\hat q - q|\, G_D + G_q e_D}{d_0 - e_D}

where G_D and G_q are the norms of the exact gradients of D and q, and with
q_min the smaller of the two probabilities

.. math:: |\log\hat q - \log q| \le \frac{|\hat q - q|}{q_{min}}, \qquad
    \|\nabla\log\hat q - \nabla\log q\| \le \frac{\|\nabla\hat q - \nabla q\|}{q_{min}}
    + \frac{G_q |\hat q - q|}{q_{min}^2}

Integrals at many nodes stand in for exact ones.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int

from dgd.diagnostics.nodes import finer_than
from dgd.diagnostics.scored_days import scored_days
from dgd.fit import Fit
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs
from dgd.model.effort import Proportional
from dgd.model.feedback.feedback import State
from dgd.model.observation import integrate
from dgd.runtime import computing

GRADIENTS = 64
"""Patterns whose gradients are compared, spread evenly over a day's cells."""
ROUNDING = 1e-14
"""Errors below this are rounding; bounds do not speak of them."""


def quadrature_bounds(fit: Fit, exact_nodes: int | None = None) -> pl.DataFrame:
    """One row per seed and quantity: the largest error, its bound, and whether all hold.

    Probabilities of all scored days are compared; gradients, with respect to every
    trained parameter, for patterns of the last one. `closest` is the largest share
    of its bound that any error takes up.
    """
    days = scored_days(fit)
    exact_nodes = exact_nodes or max(finer_than(fit.settings.nodes))
    rows = []
    with computing():
        inputs = fit.ahead(fit.panel, days - 1, 1)[0]
        for number, run in enumerate(fit.runs):
            state, crowd = fit.carried(number, days - 1), fit.crowds[number]
            exact = crowd.with_nodes(exact_nodes)
            found = {
                **probability_errors(crowd, exact, state, inputs),
                **gradient_errors(crowd, exact, *_last(state, inputs)),
            }
            rows += [{"seed": run.seed, **_row(name, *pair)} for name, pair in found.items()]
    return pl.DataFrame(rows)


def _row(quantity: str, error: np.ndarray, bound: np.ndarray) -> dict[str, str | float | bool]:
    error, bound = error.ravel(), bound.ravel()
    worst = int(error.argmax())
    taken = np.maximum(error - ROUNDING, 0.0) / np.maximum(bound, ROUNDING)
    return {
        "quantity": quantity,
        "largest error": float(error[worst]),
        "its bound": float(bound[worst]),
        "closest": float(taken.max()),
        "holds": bool((error <= bound + ROUNDING).all()),
    }


def _last(state: State, inputs: Inputs) -> tuple[State, Inputs]:
    """The last day alone."""
    return jax.tree.map(lambda x: x[-1:], state), jax.tree.map(lambda x: x[-1:], inputs)


@eqx.filter_jit
def integrals(
    crowd: Crowd, state: State, inputs: Inputs
) -> tuple[Float[Array, "date unit cohort"], Float[Array, "pattern date unit cohort"]]:
    """D and A(y) of every cell, per person and unit of effort that takes effect."""
    one = jnp.ones_like(inputs.size)
    plain = replace(crowd, effort=Proportional())
    nodes = plain.at_nodes(state, replace(inputs, size=one, effort=one))
    total = crowd.readout.total(nodes.arrivals)
    return total, total[None] * integrate(nodes, crowd.response.dependence).patterns


def probability_errors(
    crowd: Crowd, exact: Crowd, state: State, inputs: Inputs
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Errors of `crowd` against `exact`, and their bounds, for every cell and pattern."""
    near_total, near = (np.asarray(x) for x in integrals(crowd, state, inputs))
    total, numerator = (np.asarray(x) for x in integrals(exact, state, inputs))
    near_q, q = near / near_total, numerator / total
    error = np.abs(near_q - q)
    off_total = np.abs(near_total - total)
    bound = (np.abs(near - numerator) + off_total) / (total - off_total)
    smallest = np.minimum(near_q, q)
    return {
        "probability": (error, bound),
        "log-probability": (np.abs(np.log(near_q) - np.log(q)), error / smallest),
    }


def gradient_errors(
    crowd: Crowd, exact: Crowd, state: State, inputs: Inputs
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Errors of the gradients of `crowd` against `exact`, and their bounds, for some patterns."""
    size = 2 ** crowd.response.unit_intercept.shape[1] * inputs.size.size
    indices = np.unique(np.linspace(0, size - 1, min(GRADIENTS, size)).astype(int))
    near, far = (
        Slopes(*map(np.asarray, _slopes(of, state, inputs, jnp.asarray(indices))))
        for of in (crowd, exact)
    )
    error, off_q = _norm(near.gradient - far.gradient), np.abs(near.q - far.q)
    off_total = np.abs(near.total - far.total)
    bound = (
        _norm(near.of_numerator - far.of_numerator)
        + _norm(near.of_total - far.of_total)
        + off_q * _norm(far.of_total)
        + _norm(far.gradient) * off_total
    ) / (far.total - off_total)
    smallest = np.minimum(near.q, far.q)
    of_log = _norm(near.gradient / near.q[:, None] - far.gradient / far.q[:, None])
    log_bound = error / smallest + _norm(far.gradient) * off_q / smallest**2
    return {
        "gradient of probability": (error, bound),
        "gradient of log-probability": (of_log, log_bound),
    }


class Slopes(NamedTuple):
    """D and A(y) of some patterns, and their gradients with respect to all parameters."""

    total: Float[Any, " pattern"]
    numerator: Float[Any, " pattern"]
    of_total: Float[Any, "pattern parameter"]
    of_numerator: Float[Any, "pattern parameter"]

    @property
    def q(self) -> Float[Any, " pattern"]:
        return self.numerator / self.total

    @property
    def gradient(self) -> Float[Any, "pattern parameter"]:
        """Of q, by the quotient rule."""
        return (self.of_numerator - self.q[:, None] * self.of_total) / self.total[:, None]


@eqx.filter_jit
def _slopes(crowd: Crowd, state: State, inputs: Inputs, indices: Int[Array, " pattern"]) -> Slopes:
    """At `indices` among all patterns of all cells, cells running fastest."""
    free, fixed = eqx.partition(crowd, crowd.trainable())
    vector, unravel = ravel_pytree(free)
    cells = indices % inputs.size.size

    def values(parameters: Array) -> tuple[Array, Array]:
        total, numerator = integrals(eqx.combine(unravel(parameters), fixed), state, inputs)
        return total.ravel()[cells], numerator.ravel()[indices]

    return Slopes(*values(vector), *jax.jacrev(values)(vector))


def _norm(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(vectors, axis=-1))
