"""What the recurrent opponents are told of every unit and cohort, day by day."""

from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.model.days import Inputs, Outcomes
from dgd.panel.features import Scaling
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.tables.checks import LARGEST_COUNT

SMALLEST_EFFORT = 1e-6
"""Stands in for zero size or effort under the logarithm."""


class CellDays(eqx.Module):
    """What the network reads and what was recorded, day by day."""

    inputs: Float[Array, "date cell input"]
    """Everything but the preceding count."""
    previous: Float[Array, "date cell"]
    """The preceding count over s_c."""
    possible: Bool[Array, "date cell"]
    """Whether anything could arrive: false where size or effort is zero."""
    outcomes: Outcomes
    scale: Float[Array, " cell"]
    """s_c."""


@dataclass(frozen=True, eq=False)
class CellInputs:
    """How a panel's days become the network's inputs, fixed on the training days."""

    count_scale: Float[np.ndarray, " cell"]
    """s_c."""
    logarithms: Scaling
    """Centre and scale of log size and log effort."""

    @staticmethod
    def fitted(panel: Panel, split: Split) -> "CellInputs":
        mean = panel.arrivals[split.train].mean(0).ravel()
        logs = _logarithms(panel.size, panel.effort[: panel.days])
        return CellInputs(1.0 + mean, Scaling.of(logs, split.train))

    def covariates(self, inputs: Inputs) -> Float[Array, "date cell covariate"]:
        """What DGD sees, and the scaled logarithms of size and effort."""
        size, effort = np.asarray(inputs.size), np.asarray(inputs.effort)
        logs = jnp.asarray(self.logarithms.apply(_logarithms(size, effort)))
        told = jnp.concatenate([inputs.features, logs], -1)
        return told.reshape(len(size), len(self.count_scale), -1)

    def identified(self, inputs: Inputs) -> Float[Array, "date cell input"]:
        """Covariates and cell identifiers: all inputs but the preceding count."""
        told = self.covariates(inputs)
        cells = len(self.count_scale)
        identifier = jnp.broadcast_to(jnp.eye(cells)[None], (len(told), cells, cells))
        return jnp.concatenate([told, identifier], -1)

    def days(
        self, inputs: Inputs, outcomes: Outcomes, before: Float[np.ndarray, "unit cohort"]
    ) -> CellDays:
        """Consecutive days; `before` is what was counted on the day that precedes them."""
        counts = outcomes.arrivals.reshape(-1, len(self.count_scale))
        preceding = jnp.concatenate([jnp.asarray(before).reshape(1, -1), counts[:-1]])
        return CellDays(
            inputs=self.identified(inputs),
            previous=preceding / self.count_scale[None],
            possible=(inputs.size * inputs.effort > 0).reshape(counts.shape),
            outcomes=outcomes,
            scale=jnp.asarray(self.count_scale),
        )

    def stored(self) -> Tensors:
        """Everything that a file must keep."""
        return {
            "cells/count_scale": self.count_scale,
            "cells/center": self.logarithms.center,
            "cells/scale": self.logarithms.scale,
        }

    @staticmethod
    def restored(tensors: Tensors, panel: Panel) -> "CellInputs":
        """The inputs that `stored` describes, for the panel they were fitted on."""
        cells = len(panel.units) * len(panel.cohorts)
        scale = declared.tensor(tensors, "cells/count_scale", [cells], 1, LARGEST_COUNT)
        return CellInputs(scale, Scaling.restored(tensors, "cells", 2))


def _logarithms(size: np.ndarray, effort: np.ndarray) -> np.ndarray:
    return np.asarray(np.log(np.maximum(np.stack([size, effort], -1), SMALLEST_EFFORT)))
