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

from typing import NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from dgd.baselines.marks import joint_probabilities
from dgd.learning.loop import TrainingData
from dgd.learning.objective import Objective
from dgd.learning.starts import Start
from dgd.model.days import Outcomes, Prediction
from dgd.model.multinomial import log_likelihood
from dgd.model.patterns import lower_triangular

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


class KnownDays(NamedTuple):
    """What the network reads beside yesterday's counts."""

    covariates: Float[Array, "date cell covariate"]
    people: Float[Array, "date unit cohort"]
    """n e."""
    scale: Float[Array, " cell"]
    """s_c."""


class RecordedDays(NamedTuple):
    """Days to learn from or to be judged by."""

    known: KnownDays
    previous: Float[Array, "date cell count"]
    """Yesterday's arrivals and behaviour counts over s_c."""
    outcomes: Outcomes

    @property
    def read(self) -> Float[Array, "date cell input"]:
        """All that the network reads."""
        return jnp.concatenate([self.known.covariates, self.previous], -1)


Carried: TypeAlias = tuple[Float[Array, "date cell width"], Float[Array, "date cell count"]]
"""Hidden states, and the counts of the day before over s_c."""


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

    def emit(
        self, hidden: Float[Array, "date cell width"], people: Float[Array, "date unit cohort"]
    ) -> Prediction:
        """Arrivals and joint probabilities of each day; hidden lies in (-1, 1), so exp is safe."""
        state = hidden.reshape(*people.shape, -1)
        arrivals = people * jnp.exp(self.arrival_intercept[None] + state @ self.arrival_projection)
        intercept = self.unit_intercept[:, None] + self.cohort_intercept[None]
        logits = intercept[None] + state @ self.projection.matrix.T
        dependence = lower_triangular(self.dependence_entries, intercept.shape[-1])
        return Prediction(arrivals, joint_probabilities(logits, dependence))

    def at_rest(self, cells: int) -> Float[Array, "cell width"]:
        """The hidden state before the first day."""
        return jnp.zeros((cells, self.cell.hidden_size))

    def predict(self, carried: Carried, days: KnownDays) -> Prediction:
        """What days bring, when the counts of the days before were those carried."""
        return self.emit(self._read(carried, days), days.people)

    def advance(
        self,
        carried: Carried,
        days: KnownDays,
        _prediction: Prediction,
        arrivals: Float[Array, "date unit cohort"],
        behaviors: Float[Array, "date unit cohort behavior"],
    ) -> Carried:
        """What is carried on when days bring the given counts."""
        return self._read(carried, days), counted(arrivals, behaviors, days.scale)

    def _read(self, carried: Carried, days: KnownDays) -> Float[Array, "date cell width"]:
        hidden, known = carried
        return jax.vmap(self.step)(jnp.concatenate([days.covariates, known], -1), hidden)

    def penalty(self) -> Float[Array, ""]:
        """Mean square of the GRU's weights, the projections and the dependence."""
        parts = (self.cell, self.arrival_projection, self.projection, self.dependence_entries)
        return (ravel_pytree(parts)[0] ** 2).mean()


def counted(
    arrivals: Float[Array, "date unit cohort"],
    behaviors: Float[Array, "date unit cohort behavior"],
    scale: Float[Array, " cell"],
) -> Float[Array, "date cell count"]:
    """Arrivals and behaviour counts over s_c."""
    both = jnp.concatenate([arrivals[..., None], behaviors], -1)
    return both.reshape(len(both), len(scale), -1) / scale[None, :, None]


def losses(
    objective: Objective, trainable: GRUNetwork, data: TrainingData
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Training and validation objective; gradients flow through the first only.

    `data.train` holds the training days and, for expected feedback, those after the first as
    they were known before the outcome of the day before.
    """
    network = eqx.combine(trainable, data.fixed)
    days, free = data.train
    hidden = network.run(days.read, network.at_rest(len(days.known.scale)))
    prediction = network.emit(hidden, days.known.people)
    total = _daily(objective, prediction, days.outcomes).sum()
    if objective.expected_weight and len(hidden) > 1:
        left = prediction.between(0, -1)
        carried = (hidden[:-1], counted(left.arrivals, left.behaviors, free.scale))
        expected = network.predict(carried, free)
        following = _daily(objective, expected, days.outcomes.between(1, None)).sum()
        total = total + objective.expected_weight * following
    value = total / len(hidden) + objective.penalty_weight * network.penalty()

    network, last = jax.lax.stop_gradient((network, hidden[-1]))
    days = data.validation
    prediction = network.emit(network.run(days.read, last), days.known.people)
    return value, _daily(objective, prediction, days.outcomes).mean()


def _daily(
    objective: Objective, prediction: Prediction, outcomes: Outcomes
) -> Float[Array, " date"]:
    return objective.daily(
        prediction, outcomes, log_likelihood(prediction.patterns, outcomes.patterns)
    )
