r"""The joint-mark head of the recurrent baselines.

Given the recurrent state of a cell, behaviours are decided one after another:

.. math:: p(y_h = 1 \mid y_{<h}, state) = \sigma\Big(b_h + w_h^\top hidden
    + \sum_{h'<h} \Psi_{hh'} y_{h'}\Big)

The logits follow the state, the dependence Psi is learned and the same for all
states. All patterns are enumerated, so the joint distribution sums to one.
"""

from typing import TypeAlias

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import logit

from dgd.learning.pooled_logistic import pooled_logistic
from dgd.model.patterns import integrate_patterns, lower_triangular
from dgd.panel.panel import Panel
from dgd.panel.split import Split


class MarkHead(eqx.Module):
    """From a cell's hidden state to the logits of its behaviours."""

    projection: Float[Array, "behavior width"]
    """w."""
    bias: Float[Array, " behavior"]
    """b."""
    dependence_entries: Float[Array, " pair"]
    """Psi below its diagonal, row by row."""

    @property
    def dependence(self) -> Float[Array, "behavior behavior"]:
        """Psi, strictly lower triangular."""
        return lower_triangular(self.dependence_entries, len(self.bias))

    def logits(self, hidden: Float[Array, " width"]) -> Float[Array, " behavior"]:
        """b + w hidden: the part of the logits that follows the state."""
        return self.projection @ hidden + self.bias


def joint_probabilities(
    logits: Float[Array, "... behavior"], dependence: Float[Array, "behavior behavior"]
) -> Float[Array, "pattern ..."]:
    """q(y) of every cell, by enumerating the patterns."""
    cells = logits.shape[:-1]
    flat = logits.reshape(-1, 1, logits.shape[-1]).T
    patterns = integrate_patterns(flat, jnp.ones(flat.shape[1:]), dependence)
    return patterns.reshape(-1, *cells)


MarkStart: TypeAlias = tuple[Float[np.ndarray, " behavior"], Float[np.ndarray, " pair"]]
"""b and the entries of Psi that training begins with."""


def blank_marks(behaviors: int) -> MarkStart:
    """Zeros of the right shapes, for parameters that a file will fill."""
    return np.zeros(behaviors), np.zeros(behaviors * (behaviors - 1) // 2)


def marks_from_rates(panel: Panel, split: Split) -> MarkStart:
    """The logits of the behaviours' training rates, and no dependence."""
    shown = panel.behavior_counts[split.train].sum((0, 1, 2))
    arrivals = panel.arrivals[split.train].sum()
    behaviors = len(shown)
    bias = np.asarray(logit((shown + 0.5) / (arrivals + 1.0)))
    return bias, np.zeros(behaviors * (behaviors - 1) // 2)


def marks_from_patterns(panel: Panel, split: Split) -> MarkStart:
    """Biases and dependence together, from a pooled logistic fit to the training days."""
    counts = panel.patterns[split.train].sum((0, 1, 2)).astype(np.float64)
    bias, dependence = pooled_logistic(counts[None])
    return bias[0], dependence[np.tril_indices(len(dependence), -1)]
