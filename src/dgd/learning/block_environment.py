"""The arrival environment of all units, from one scan over days of arrival integrals."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dgd.learning.unit_blocks import SharedSurprise, UnitBlocks, UnitDays
from dgd.model.arrival import clipped
from dgd.model.crowd import Crowd
from dgd.model.feedback.environment import EnvironmentState
from dgd.model.feedback.feedback import State
from dgd.model.feedback.signals import departing, innovation
from dgd.model.unit_axis import mean_over_units
from dgd.model.unit_parameters import UnitParameters


class EnvironmentWalk(NamedTuple):
    """The environment on its way through the days."""

    path: EnvironmentState
    """At the beginning of every day."""
    last: EnvironmentState
    """After the last."""
    shared: SharedSurprise
    """What all units made of it."""


class _Day(NamedTuple):
    """What a day of the scan knows of every unit."""

    exponents: Float[Array, "unit cohort"]
    reachable: Float[Array, "unit cohort"]
    recorded: Float[Array, " unit"]
    active: Float[Array, " unit"]


def environment_of_units(
    crowd: Crowd,
    units: UnitParameters,
    blocks: UnitBlocks,
    carried: dict[str, Array],
    initial: EnvironmentState,
) -> EnvironmentWalk:
    """The arrival environment of the units of all blocks.

    A unit's exponent is worked out block by block; days are then walked with all units at once,
    and the nodes of a day are recomputed when gradients come back. Where the blocks know what all
    units share, be these elsewhere, that is what moves them.
    """
    support = crowd.population.support()
    of_node, weights = crowd.arrival.node_exponent(support), jnp.exp(support.log_weights)
    environment, present = crowd.feedback.environment, blocks.days.present.reshape(-1)

    @jax.checkpoint
    def step(
        state: EnvironmentState, met: tuple[_Day, SharedSurprise | None]
    ) -> tuple[EnvironmentState, tuple[EnvironmentState, SharedSurprise]]:
        day, told = met
        at_nodes = (day.exponents + state.exponent[0][:, None])[..., None] + of_node[None]
        intensity = (weights[None] * jnp.exp(clipped(at_nodes))).sum(-1)
        expected = (day.reachable * intensity).sum(-1)
        seen = (day.recorded[None], expected[None], day.active[None], present)
        surprise = innovation(*seen) if told is None else departing(told.mean[None], *seen)
        found = environment.uncentred(state, surprise)
        center = mean_over_units(found.unit, present) if told is None else told.center[None, None]
        following = EnvironmentState(found.common, found.unit - center)
        return following, (state, SharedSurprise(surprise.mean[0], center[0, 0]))

    days = _days(crowd, units, blocks, carried)
    last, (path, shared) = jax.lax.scan(step, initial, (days, blocks.shared))
    return EnvironmentWalk(jax.tree.map(lambda x: x[:, 0], path), last, shared)


def _days(
    crowd: Crowd, units: UnitParameters, blocks: UnitBlocks, carried: dict[str, Array]
) -> _Day:
    """With a leading axis over dates."""
    days, (count, length) = blocks.days, blocks.days.present.shape
    dates = blocks.totals.arrivals.shape[0]
    calm = EnvironmentState(jnp.zeros(dates), jnp.zeros((dates, 1)))
    moved = crowd.moved(State(carried, calm))

    def exponent(block: tuple[UnitParameters, UnitDays]) -> tuple[Array, Array]:
        own, of_block = block
        here, inputs = own.put_into(crowd), of_block.inputs
        found = here.arrival.cell_exponent(here.reference, inputs.features, moved)
        return found, here.people(inputs)

    def by_date(x: Array) -> Array:
        return jnp.moveaxis(x, 1, 0).reshape(dates, count * length, -1)

    of_cell, people = jax.lax.map(jax.checkpoint(exponent), (units.in_blocks(count), days))
    active = jnp.where((days.size * days.effort).sum(-1) > 0, 1.0, 0.0)
    return _Day(
        by_date(of_cell),
        by_date(people),
        by_date(days.arrivals).sum(-1),
        by_date(active[..., None])[..., 0],
    )
