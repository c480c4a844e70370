r"""The network of DeepAR-joint: what it is told, its LSTM, its two heads, its loss.

A cell c is a unit and a cohort. All cells share one network; they differ by
their inputs. On day t the network reads

- the covariates that DGD sees, calendar and history summaries alike;
- the logarithms of reference size and effort, scaled on the training days;
- a one-hot identifier of the cell;
- the preceding count over :math:`s_c = 1 + mean_{train}(N_c)`, zero at first,

and returns a negative binomial for N_ct of mean m and variance m + alpha m^2,

.. math:: m = s_c\,(softplus(a) + 10^{-8}), \qquad
    \alpha = (softplus(b) + 10^{-8}) / \sqrt{s_c},

and the joint distribution of an arrival's behaviours.
"""

from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from dgd.baselines.cell_inputs import CellDays, CellInputs
from dgd.baselines.marks import (
    MarkHead,
    MarkStart,
    joint_probabilities,
    marks_from_patterns,
    marks_from_rates,
)
from dgd.learning.loop import TrainingData
from dgd.learning.objective import behavior_loss
from dgd.model import negative_binomial
from dgd.model.days import Prediction
from dgd.model.multinomial import log_likelihood
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.sequences import recorded_days
from dgd.panel.split import Split

SMALLEST = 1e-8
"""Added to both positive outputs before they are rescaled."""

SOFTPLUS_IS_ONE = float(np.log(np.expm1(1.0)))
"""Where softplus is one."""

ANY_DISPERSION = 1.0
"""Outcomes carry a constant for a fixed dispersion; this network learns its own."""


class LSTMState(NamedTuple):
    """What the LSTM carries from day to day."""

    hidden: Float[Array, "*cells width"]
    memory: Float[Array, "*cells width"]


class DeepARNetwork(eqx.Module):
    """A one-layer LSTM with a count head and a joint-mark head. Methods see one cell."""

    cell: eqx.nn.LSTMCell
    """Its last input is the preceding count."""
    count_projection: Float[Array, "2 width"]
    count_bias: Float[Array, " 2"]
    marks: MarkHead

    @staticmethod
    def random(inputs: int, width: int, marks: MarkStart, key: Key[Array, ""]) -> "DeepARNetwork":
        """Uniform weights within 1/sqrt(width); mark biases and dependence as given."""
        for_cell, for_count, for_marks = jax.random.split(key, 3)
        bias, dependence = marks
        limit = width**-0.5

        def uniform(key: Key[Array, ""], rows: int) -> Float[Array, "row width"]:
            return jax.random.uniform(key, (rows, width), minval=-limit, maxval=limit)

        return DeepARNetwork(
            cell=eqx.nn.LSTMCell(inputs + 1, width, key=for_cell),
            count_projection=uniform(for_count, 2),
            count_bias=jnp.zeros(2),
            marks=MarkHead(
                projection=uniform(for_marks, len(bias)),
                bias=jnp.asarray(bias),
                dependence_entries=jnp.asarray(dependence),
            ),
        )

    def drive(self, inputs: Float[Array, " input"]) -> Float[Array, " gate"]:
        """The part of the gates that does not depend on counts."""
        assert self.cell.bias is not None
        return self.cell.weight_ih[:, :-1] @ inputs + self.cell.bias

    def step(
        self, drive: Float[Array, " gate"], previous: Float[Array, ""], state: LSTMState
    ) -> LSTMState:
        """One day of the LSTM."""
        cell = self.cell
        gates = drive + cell.weight_ih[:, -1] * previous + cell.weight_hh @ state.hidden
        enter, keep, new, show = jnp.split(gates, 4)
        memory = jax.nn.sigmoid(keep) * state.memory + jax.nn.sigmoid(enter) * jnp.tanh(new)
        return LSTMState(jax.nn.sigmoid(show) * jnp.tanh(memory), memory)

    def count(
        self, hidden: Float[Array, " width"], scale: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """m and alpha of the day's count."""
        positive = jax.nn.softplus(self.count_projection @ hidden + self.count_bias) + SMALLEST
        return scale * positive[0], positive[1] / jnp.sqrt(scale)

    def at_rest(self, cells: int) -> LSTMState:
        """The state before the first day."""
        zero = jnp.zeros((cells, self.cell.hidden_size))
        return LSTMState(zero, zero)

    def run(self, days: CellDays, state: LSTMState) -> LSTMState:
        """The state after reading each day's inputs, for all cells; leading axis date."""
        drives = jax.vmap(jax.vmap(self.drive))(days.inputs)

        def day(state: LSTMState, read: tuple[Array, Array]) -> tuple[LSTMState, LSTMState]:
            state = jax.vmap(self.step)(*read, state)
            return state, state

        return jax.lax.scan(day, state, (drives, days.previous))[1]


def start_from_rates(
    panel: Panel, split: Split, inputs: int, width: int, key: Key[Array, ""]
) -> DeepARNetwork:
    """The paper's start: training rates as mark biases, everything else random or zero."""
    return DeepARNetwork.random(inputs, width, marks_from_rates(panel, split), key)


def start_from_training(
    panel: Panel, split: Split, inputs: int, width: int, key: Key[Array, ""]
) -> DeepARNetwork:
    """Patterns as in the training days whatever the state, and counts near their scale s_c."""
    network = DeepARNetwork.random(inputs, width, marks_from_patterns(panel, split), key)
    return eqx.tree_at(
        lambda n: (n.marks.projection, n.count_bias),
        network,
        (jnp.zeros_like(network.marks.projection), jnp.full(2, SOFTPLUS_IS_ONE)),
    )


def training_days(
    panel: Panel, split: Split, maker: FeatureMaker, cells: CellInputs
) -> tuple[CellDays, CellDays]:
    """Training and validation days; nothing is counted before the first training day."""
    first, middle, stop = split.first, split.train_stop, split.validation_stop
    nothing = np.zeros(panel.arrivals.shape[1:])
    return (
        cells.days(*recorded_days(panel, maker, first, middle, ANY_DISPERSION), nothing),
        cells.days(
            *recorded_days(panel, maker, middle, stop, ANY_DISPERSION),
            panel.arrivals[middle - 1].astype(np.float64),
        ),
    )


@dataclass(frozen=True, kw_only=True)
class DeepARObjective:
    r"""The weights of the objective's terms.

    .. math:: \frac1T \sum_t \frac{-\sum_{c,y} C_{ct}(y) \log q_{ct}(y)}{\max(1, \sum_c N_{ct})}
        + \alpha\; mean_{c,t}\big[-\log NB(N_{ct}; m_{ct}, \alpha_{ct})\big]
        + \lambda\; mean(\theta^2)
    """

    count_weight: float
    penalty_weight: float

    def __call__(
        self, trainable: DeepARNetwork, data: TrainingData
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Training objective and, without the penalty, validation objective."""
        network = eqx.combine(trainable, data.fixed)
        states = network.run(data.train, network.at_rest(len(data.train.scale)))
        value = self.loss(network, states, data.train)
        penalty = (ravel_pytree(trainable)[0] ** 2).mean()
        network, last = jax.lax.stop_gradient((network, jax.tree.map(lambda x: x[-1], states)))
        states = network.run(data.validation, last)
        validation = self.loss(network, states, data.validation)
        return value + self.penalty_weight * penalty, validation

    def loss(self, network: DeepARNetwork, states: LSTMState, days: CellDays) -> Float[Array, ""]:
        """Both likelihoods, averaged over days."""
        mean, spread = jax.vmap(jax.vmap(network.count), (0, None))(states.hidden, days.scale)
        logits = jax.vmap(jax.vmap(network.marks.logits))(states.hidden)
        patterns = joint_probabilities(logits, network.marks.dependence)
        outcomes = days.outcomes
        grid = outcomes.arrivals.shape
        prediction = Prediction(mean.reshape(grid), patterns.reshape(-1, *grid))
        counts = negative_binomial.log_probability(
            outcomes.arrivals.reshape(mean.shape), mean, 1.0 / spread
        )
        count_loss = -jnp.where(days.possible, counts, 0.0).mean()
        told = log_likelihood(prediction.patterns, outcomes.patterns)
        return behavior_loss(told, outcomes).mean() + self.count_weight * count_loss
