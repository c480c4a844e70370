"""The arrival environment of all units, from one scan over days of arrival integrals."""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from dgd.learning.unit_blocks import UnitBlocks, UnitDays
from dgd.model.arrival import clipped
from dgd.model.crowd import Crowd
from dgd.model.feedback.environment import EnvironmentState
from dgd.model.feedback.feedback import State
from dgd.model.feedback.signals import innovation
from dgd.model.unit_parameters import UnitParameters


def environment_of_units(
    crowd: Crowd,
    units: UnitParameters,
    blocks: UnitBlocks,
    carried: dict[str, Array],
    initial: EnvironmentState,
) -> tuple[EnvironmentState, EnvironmentState]:
    """The arrival environment of all units at the beginning of every day, and after the last.

    A unit's exponent is worked out block by block; days are then walked with all units at once,
    and the nodes of a day are recomputed when gradients come back.
    """
    days, (count, length) = blocks.days, blocks.days.present.shape
    dates = blocks.totals.arrivals.shape[0]
    calm = EnvironmentState(jnp.zeros(dates), jnp.zeros((dates, 1)))
    moved = crowd.moved(State(carried, calm))

    def exponent(block: tuple[UnitParameters, UnitDays]) -> tuple[Array, Array]:
        own, of_block = block
        here, inputs = own.put_into(crowd), of_block.inputs
        found = here.arrival.cell_exponent(here.reference, inputs.features, moved)
        return found, here.people(inputs)

    of_cell, people = jax.lax.map(jax.checkpoint(exponent), (units.in_blocks(count), days))
    support = crowd.population.support()
    of_node, weights = crowd.arrival.node_exponent(support), jnp.exp(support.log_weights)

    def by_date(x: Array) -> Array:
        return jnp.moveaxis(x, 1, 0).reshape(dates, count * length, -1)

    active = jnp.where((days.size * days.effort).sum(-1) > 0, 1.0, 0.0)
    present = days.present.reshape(-1)

    @jax.checkpoint
    def step(
        environment: EnvironmentState, day: tuple[Array, ...]
    ) -> tuple[EnvironmentState, EnvironmentState]:
        exponents, reachable, recorded, could = day
        at_nodes = (exponents + environment.exponent[0][:, None])[..., None] + of_node[None]
        intensity = (weights[None] * jnp.exp(clipped(at_nodes))).sum(-1)
        expected = (reachable * intensity).sum(-1)
        surprise = innovation(recorded[None], expected[None], could[None], present)
        return crowd.feedback.environment.advance(environment, surprise), environment

    recorded = by_date(days.arrivals).sum(-1)
    walked = (by_date(of_cell), by_date(people), recorded, by_date(active[..., None])[..., 0])
    last, path = jax.lax.scan(step, initial, walked)
    return jax.tree.map(lambda x: x[:, 0], path), last
