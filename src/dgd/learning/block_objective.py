r"""The training objective walked in blocks of units: the same loss and gradient, bounded memory.

What units have in common are a few numbers a day: the mean surprise of their arrivals, and what
cohorts are expected to do. So one scan over days of arrival integrals gives the environment of all
units, and everything that costs, the joint patterns at every node, is walked block by block: once
for the recorded days and the expected sums, and once for the days that expected feedback leads to.
Each block is recomputed when gradients come back, so that only one is ever held.

Where the blocks are a random part of all units, sums are weighed up to all of them, unbiased.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dgd.learning.block_environment import environment_of_units
from dgd.learning.block_walks import (
    DaySums,
    over_blocks,
    seen,
    seen_and_expected,
    seen_and_some_expected,
    seen_from_before,
)
from dgd.learning.objective import Objective
from dgd.learning.unit_blocks import SharedSurprise, UnitBlocks
from dgd.model.crowd import Crowd
from dgd.model.days import CohortTotals
from dgd.model.feedback.feedback import State
from dgd.model.feedback.signals import Innovation
from dgd.model.sweep import carried_paths
from dgd.model.unit_axis import over_units
from dgd.model.unit_parameters import UnitParameters


@dataclass(frozen=True)
class BlockObjective:
    """The objective of training over blocks of units.

    Args:
        objective: the weights of its terms.
        summed: of how many units of each block the expected sums are taken, weighed up to all;
            the whole block where it is missing.
    """

    objective: Objective
    summed: int | None = None

    def train(self, crowd: Crowd, blocks: UnitBlocks) -> tuple[Float[Array, ""], State]:
        """The training objective, and the state after the last training day; its units are in
        the order of the blocks."""
        units = UnitParameters.of(crowd)
        states, last, _ = _walked(crowd, blocks, _at_rest(crowd, blocks))
        likely, expected = self._observed(crowd, units, blocks, states)
        days = blocks.totals.arrivals.shape[0]
        total = self._daily(likely, blocks, blocks.totals.arrivals).sum()
        if self.objective.expected_weight and days > 1:
            free = self._free(crowd, units, blocks, states, expected)
            later = self._daily(free, blocks, blocks.totals.arrivals[1:]).sum()
            total = total + self.objective.expected_weight * later
        penalty = self.objective.penalty_weight * self.objective.penalty(crowd)
        penalty = penalty + self._held_units(units, blocks)
        return total / days + penalty, last

    def walked(self, crowd: Crowd, blocks: UnitBlocks) -> State:
        """The state after the last day, without asking how likely the days were."""
        return _walked(crowd, blocks, _at_rest(crowd, blocks))[1]

    def validate(self, crowd: Crowd, blocks: UnitBlocks, initial: State) -> Float[Array, ""]:
        """Mean daily loss of the observed branch on the days after `initial`."""
        units = UnitParameters.of(crowd)
        states, _, _ = _walked(crowd, blocks, initial)
        likely = over_blocks(partial(seen, self._dispersion), crowd, units, blocks, states)
        return self._daily(_all_of(likely), blocks, blocks.totals.arrivals).mean()

    def _held_units(self, units: UnitParameters, blocks: UnitBlocks) -> Float[Array, ""]:
        r"""What units pay for departing, in the objective's own units.

        .. math:: \frac{\alpha}{J G T} \sum_{jg} \frac{k_g}{2} a_{jg}^2
            + \frac{1}{\sum_t N_t} \sum_{jh} \frac{\kappa_h}{2} b_{jh}^2
        """
        held = blocks.strengths
        if held is None:
            return jnp.zeros(())
        dates, cohorts = blocks.totals.arrivals.shape
        of_cell = self.objective.count_weight / (blocks.units * cohorts * dates)
        of_arrival = 1.0 / jnp.maximum(1.0, blocks.totals.arrivals.sum())
        arrival = (held.arrival[None] * units.arrival**2).sum()
        response = (held.response[None] * units.response**2).sum()
        return 0.5 * blocks.weight * over_units(of_cell * arrival + of_arrival * response)

    def _daily(
        self, sums: DaySums, blocks: UnitBlocks, arrivals: Float[Array, "date cohort"]
    ) -> Float[Array, " date"]:
        """L_B + alpha L_N of each day."""
        cells = blocks.units * arrivals.shape[1]
        behavior = -blocks.weight * sums.patterns / jnp.maximum(1.0, arrivals.sum(-1))
        return behavior - self.objective.count_weight * blocks.weight * sums.counts / cells

    def _observed(
        self, crowd: Crowd, units: UnitParameters, blocks: UnitBlocks, states: State
    ) -> tuple[DaySums, CohortTotals | None]:
        """How likely the recorded days were, and what cohorts are expected to do on them."""
        if not self.objective.expected_weight:
            alone = over_blocks(partial(seen, self._dispersion), crowd, units, blocks, states)
            return _all_of(alone), None
        walked, weight = partial(seen_and_expected, self._dispersion), blocks.weight
        if self.summed is not None:
            walked = partial(seen_and_some_expected, self.summed, self._dispersion)
            weight = weight * (blocks.days.present.shape[-1] / self.summed)
        likely, expected = over_blocks(walked, crowd, units, blocks, states)
        everyone = jax.tree.map(lambda x: over_units(weight * x), expected)
        return _all_of(likely), everyone

    @property
    def _dispersion(self) -> float:
        return self.objective.dispersion

    def _free(
        self,
        crowd: Crowd,
        units: UnitParameters,
        blocks: UnitBlocks,
        states: State,
        expected: CohortTotals | None,
    ) -> DaySums:
        """How likely each day was, seen from the day before it, left by expected feedback."""
        assert expected is not None
        left: State = jax.tree.map(lambda x: x[:-1], states)
        carried = crowd.feedback.advance_carried(
            left.carried, expected.between(0, -1), crowd.reference
        )
        calm = jnp.zeros_like(left.environment.unit)
        nothing = Innovation(calm[:, 0], calm, blocks.days.present.reshape(-1))
        environment = crowd.feedback.environment.advance(left.environment, nothing)
        found = over_blocks(
            partial(seen_from_before, self._dispersion),
            crowd,
            units,
            blocks,
            State(carried, environment),
        )
        return _all_of(found)


def shared_surprise(crowd: Crowd, blocks: UnitBlocks) -> SharedSurprise:
    """What the units of the blocks make, together, of their arrival environment."""
    return _walked(crowd, blocks, _at_rest(crowd, blocks))[2]


def _at_rest(crowd: Crowd, blocks: UnitBlocks) -> State:
    """The state before the first day, of as many units as the blocks have places."""
    return crowd.feedback.at_rest(blocks.days.present.size, crowd.arrival.intercept.shape[-1])


def _walked(
    crowd: Crowd, blocks: UnitBlocks, initial: State
) -> tuple[State, State, SharedSurprise]:
    """The states at the beginning of every day, the state after the last, and what all units
    share of their environment."""
    paths = carried_paths(crowd, blocks.totals, initial)
    carried = {name: path[:-1] for name, path in paths.items()}
    units = UnitParameters.of(crowd)
    found = environment_of_units(crowd, units, blocks, carried, initial.environment)
    final = {name: path[-1:] for name, path in paths.items()}
    return State(carried, found.path), State(final, found.last), found.shared


def _all_of(sums: DaySums) -> DaySums:
    return DaySums(over_units(sums.patterns), over_units(sums.counts))
