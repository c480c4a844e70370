r"""The network of the GRU predictors, its loss, and its expected path ahead.

All cells (a unit and a cohort) share one GRU. On day t it reads the covariates
that DGD sees, log size and log effort, and yesterday's arrivals and behaviour
counts of the cell over :math:`s_c = 1 + mean_{train}(N_c)`. From its hidden state,

.. math:: \hat N = n\, e \exp(a_{jg} + v^\top hidden), \qquad
    \eta_h = u_{jh} + b_{gh} + w_h^\top hidden + \sum_{h'<h} \Psi_{hh'} y_{h'}

The full projection learns every w_h. The restricted one fixes w_1 to the first
hidden coordinate, as DGD fixes the first behaviour's loading. Counts have DGD's
negative-binomial likelihood; objective, loop and forecasts are DGD's too: the
expected-feedback branch is trained with, and expected counts are fed back in
forecasts of more than a day.
"""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from dgd.baselines.marks import joint_probabilities, lower_triangular
from dgd.learning.objective import Objective
from dgd.learning.starts import Start
from dgd.model.days import Outcomes, Prediction, log_likelihood

HEAD_START = 0.1
"""Standard deviation of the heads' projections at the start."""


class FullProjection(eqx.Module):
    """w, every row learned."""

    rows: Float[Array, "behavior width"]

    @staticmethod
    def random(behaviors: int, width: int, key: Key[Array, ""]) -> "FullProjection":
        return FullProjection(HEAD_START * jax.random.normal(key, (behaviors, width)))

    @property
    def matrix(self) -> Float[Array, "behavior width"]:
        return self.rows


class RestrictedProjection(eqx.Module):
    """w, its first row fixed to the first hidden coordinate."""

    rows: Float[Array, "behavior_after_first width"]

    @staticmethod
    def random(behaviors: int, width: int, key: Key[Array, ""]) -> "RestrictedProjection":
        return RestrictedProjection(HEAD_START * jax.random.normal(key, (behaviors - 1, width)))

    @property
    def matrix(self) -> Float[Array, "behavior width"]:
        return jnp.concatenate([jnp.eye(1, self.rows.shape[1]), self.rows])


PROJECTIONS: dict[str, type[FullProjection] | type[RestrictedProjection]] = {
    "full": FullProjection,
    "restricted": RestrictedProjection,
}


class Days(NamedTuple):
    """What the network reads beside yesterday's counts."""

    covariates: Float[Array, "date cell covariate"]
    people: Float[Array, "date unit cohort"]
    """n e."""


class GRUNetwork(eqx.Module):
    """One GRU for all cells, a count head and a mark head."""

    cell: eqx.nn.GRUCell
    arrival_intercept: Float[Array, "unit cohort"]
    arrival_projection: Float[Array, " width"]
    unit_intercept: Float[Array, "unit behavior"]
    cohort_intercept: Float[Array, "cohort behavior"]
    projection: FullProjection | RestrictedProjection
    dependence_entries: Float[Array, " pair"]

    @staticmethod
    def starting(
        start: Start, inputs: int, width: int, projection: str, key: Key[Array, ""]
    ) -> "GRUNetwork":
        """Heads where DGD's default start stands, a random GRU."""
        for_cell, for_arrival, for_marks = jax.random.split(key, 3)
        intercept = jnp.asarray(start.cohort_intercept)
        units, behaviors = len(start.reference.log_baseline), intercept.shape[1]
        return GRUNetwork(
            cell=eqx.nn.GRUCell(inputs, width, key=for_cell),
            arrival_intercept=jnp.asarray(start.reference.log_baseline),
            arrival_projection=HEAD_START * jax.random.normal(for_arrival, (width,)),
            unit_intercept=jnp.zeros((units, behaviors)),
            cohort_intercept=intercept,
            projection=PROJECTIONS[projection].random(behaviors, width, for_marks),
            dependence_entries=jnp.asarray(start.dependence),
        )

    @property
    def trainable_parameters(self) -> int:
        return int(ravel_pytree(self)[0].size)

    def step(
        self, read: Float[Array, "cell input"], hidden: Float[Array, "cell width"]
    ) -> Float[Array, "cell width"]:
        """One day of the GRU."""
        return jax.vmap(self.cell)(read, hidden)

    def run(
        self, read: Float[Array, "date cell input"], hidden: Float[Array, "cell width"]
    ) -> Float[Array, "date cell width"]:
        """Hidden states after reading each day."""

        def day(hidden: Array, read: Array) -> tuple[Array, Array]:
            hidden = self.step(read, hidden)
            return hidden, hidden

        return jax.lax.scan(day, hidden, read)[1]

    def predict(
        self, hidden: Float[Array, "date cell width"], people: Float[Array, "date unit cohort"]
    ) -> Prediction:
        """Arrivals and joint probabilities of each day; hidden lies in (-1, 1), so exp is safe."""
        state = hidden.reshape(*people.shape, -1)
        arrivals = people * jnp.exp(self.arrival_intercept[None] + state @ self.arrival_projection)
        intercept = self.unit_intercept[:, None] + self.cohort_intercept[None]
        logits = intercept[None] + state @ self.projection.matrix.T
        dependence = lower_triangular(self.dependence_entries, intercept.shape[-1])
        return Prediction(arrivals, joint_probabilities(logits, dependence))

    def penalty(self) -> Float[Array, ""]:
        """Mean square of the GRU's weights, the projections and the dependence."""
        parts = (self.cell, self.arrival_projection, self.projection, self.dependence_entries)
        return (ravel_pytree(parts)[0] ** 2).mean()


class TrainingData(NamedTuple):
    """Everything the loss needs beside the parameters."""

    count_scale: Float[Array, " cell"]
    train: tuple[Days, Float[Array, "date cell count"], Outcomes]
    free: Days
    """The training days after the first, as known before the outcome of the day before."""
    validation: tuple[Days, Float[Array, "date cell count"], Outcomes]


def counted(
    arrivals: Float[Array, "date unit cohort"],
    behaviors: Float[Array, "date unit cohort behavior"],
    scale: Float[Array, " cell"],
) -> Float[Array, "date cell count"]:
    """Arrivals and behaviour counts over s_c."""
    both = jnp.concatenate([arrivals[..., None], behaviors], -1)
    return both.reshape(len(both), len(scale), -1) / scale[None, :, None]


def losses(
    objective: Objective, network: GRUNetwork, data: TrainingData
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Training and validation objective; gradients flow through the first only."""
    days, previous, outcomes = data.train
    start = jnp.zeros((len(data.count_scale), network.cell.hidden_size))
    hidden = network.run(jnp.concatenate([days.covariates, previous], -1), start)
    prediction = network.predict(hidden, days.people)
    total = _daily(objective, prediction, outcomes).sum()
    if objective.expected_weight and len(hidden) > 1:
        left = prediction.between(0, -1)
        expected = counted(left.arrivals, left.behaviors, data.count_scale)
        read = jnp.concatenate([data.free.covariates, expected], -1)
        free = network.predict(jax.vmap(network.step)(read, hidden[:-1]), data.free.people)
        following = _daily(objective, free, outcomes.between(1, None)).sum()
        total = total + objective.expected_weight * following
    value = total / len(hidden) + objective.penalty_weight * network.penalty()

    network, last = jax.lax.stop_gradient((network, hidden[-1]))
    days, previous, outcomes = data.validation
    hidden = network.run(jnp.concatenate([days.covariates, previous], -1), last)
    return value, _daily(objective, network.predict(hidden, days.people), outcomes).mean()


def _daily(
    objective: Objective, prediction: Prediction, outcomes: Outcomes
) -> Float[Array, " date"]:
    return objective.daily(
        prediction, outcomes, log_likelihood(prediction.patterns, outcomes.patterns)
    )


@eqx.filter_jit
def expected_path(
    network: GRUNetwork,
    hidden: Float[Array, "origin cell width"],
    known: Float[Array, "origin cell count"],
    ahead: Sequence[Days],
    scale: Float[Array, " cell"],
) -> list[Prediction]:
    """Predict day after day, feeding expected counts back; all origins in one batch."""
    path = []
    for days in ahead:
        hidden = jax.vmap(network.step)(jnp.concatenate([days.covariates, known], -1), hidden)
        prediction = network.predict(hidden, days.people)
        known = counted(prediction.arrivals, prediction.behaviors, scale)
        path.append(prediction)
    return path
