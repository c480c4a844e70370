"""Are the gradients right, and do they reach every part of the model?"""

from dataclasses import replace

import equinox as eqx
import jax
import numpy as np
import polars as pl
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from dgd.fit import Fit
from dgd.learning.objective import Objective
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Outcomes
from dgd.panel.sequences import recorded_events
from dgd.runtime import computing

STEP = 1e-5
ENTRIES = 4
"""Entries of every array that are compared with differences, the largest gradients first."""


def gradient_check(fit: Fit) -> pl.DataFrame:
    """One row per seed and trained array: its gradient beside central differences.

    The training objective is taken at the fitted parameters; `difference` is the
    largest distance of automatic from central differences among the entries compared. It is taken
    without innovations, which gradients take as given.
    """
    rows = []
    with computing():
        days = recorded_events(
            fit.panel, fit.features, fit.split.first, fit.split.train_stop, fit.settings.dispersion
        )
        for seed, crowd in zip(fit.seeds, fit.crowds, strict=True):
            alone = replace(crowd, innovations=None)
            free, fixed = eqx.partition(alone, alone.trainable())
            vector, unravel = ravel_pytree(free)
            _, slope = value_and_slope(fit.settings.objective, alone, *days)
            start = 0
            for path, array in jax.tree_util.tree_leaves_with_path(free):
                name = jax.tree_util.keystr(path, simple=True, separator=".")
                if not array.size:
                    continue
                own = slope[start : start + array.size]
                indices = start + np.argsort(-np.abs(own))[:ENTRIES]
                start += array.size
                ends = [
                    [
                        _value(
                            fit.settings.objective,
                            unravel(vector.at[index].add(sign * STEP)),
                            fixed,
                            *days,
                        )
                        for sign in (1.0, -1.0)
                    ]
                    for index in indices
                ]
                central = np.array([float(up - down) / (2 * STEP) for up, down in ends])
                rows.append(
                    {
                        "seed": seed,
                        "array": name,
                        "largest gradient": float(np.abs(own).max()),
                        "difference": float(np.abs(central - slope[indices]).max()),
                    }
                )
    return pl.DataFrame(rows)


def value_and_slope(
    objective: Objective, crowd: Crowd, inputs: Inputs, outcomes: Outcomes
) -> tuple[float, Float[np.ndarray, " parameter"]]:
    """The training objective, and its gradient with respect to all that is trained."""
    value, slope = _differentiated(
        objective, *eqx.partition(crowd, crowd.trainable()), inputs, outcomes
    )
    return float(value), np.asarray(slope)


@eqx.filter_jit
def _value(
    objective: Objective, free: Crowd, fixed: Crowd, inputs: Inputs, outcomes: Outcomes
) -> Float[Array, ""]:
    return objective.train(eqx.combine(free, fixed), inputs, outcomes)[0]


@eqx.filter_jit
def _differentiated(
    objective: Objective, free: Crowd, fixed: Crowd, inputs: Inputs, outcomes: Outcomes
) -> tuple[Float[Array, ""], Float[Array, " parameter"]]:
    vector, unravel = ravel_pytree(free)
    return jax.value_and_grad(lambda x: _value(objective, unravel(x), fixed, inputs, outcomes))(
        vector
    )
