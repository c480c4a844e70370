"""The compiled programs of training over random blocks: a step, the units' slopes, a look."""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from dgd.learning.block_objective import BlockObjective, shared_surprise
from dgd.learning.unit_blocks import SharedSurprise, UnitBlocks
from dgd.model.crowd import Crowd
from dgd.model.unit_parameters import UnitParameters

AVERAGED = 0.8
"""Share of the average that a step leaves."""


class Own(NamedTuple):
    """What the units of a block have of their own."""

    arrival: Float[Array, "unit cohort"]
    response: Float[Array, "unit behavior"]


class Parts(NamedTuple):
    """A crowd taken apart: what is trained of what units share, what is not, and the units."""

    shared: Crowd
    fixed: Crowd
    units: UnitParameters


class Moving(NamedTuple):
    """What units share, as it moves from step to step."""

    shared: Crowd
    moments: PyTree
    average: Crowd


def taken_apart(crowd: Crowd) -> Parts:
    """What is shared has no units in it."""
    units = UnitParameters.of(crowd)
    nobody = UnitParameters(*(jnp.zeros((0, x.shape[-1])) for x in units)).put_into(crowd)
    return Parts(*eqx.partition(nobody, nobody.trainable()), units)


def put_together(shared: Crowd, fixed: Crowd, units: UnitParameters) -> Crowd:
    """The whole crowd again."""
    return units.put_into(eqx.combine(shared, fixed))


def first_move(shared: Crowd) -> Moving:
    return Moving(shared, optax.scale_by_adam().init(shared), shared)


def _value(
    objective: BlockObjective,
    moved: tuple[Crowd, Own],
    fixed: Crowd,
    baseline: Array,
    days: UnitBlocks,
) -> Float[Array, ""]:
    shared, own = moved
    crowd = put_together(shared, fixed, UnitParameters(*own, baseline))
    return objective.train(crowd, days)[0]


@eqx.filter_jit
def step(
    objective: BlockObjective,
    clip_norm: float,
    moving: Moving,
    rate: Float[Array, ""],
    own: Own,
    fixed: Crowd,
    baseline: Float[Array, "unit cohort"],
    days: UnitBlocks,
) -> tuple[Float[Array, ""], Moving, Own]:
    """The block's objective, what all share after one step of Adam, and the units' slopes."""

    def value(moved: tuple[Crowd, Own]) -> Float[Array, ""]:
        return _value(objective, moved, fixed, baseline, days)

    found, (gradient, slopes) = eqx.filter_value_and_grad(value)((moving.shared, own))
    norm = optax.tree.norm(gradient)
    clipped = jax.tree.map(lambda x: x * jnp.minimum(1.0, clip_norm / norm), gradient)
    update, moments = optax.scale_by_adam().update(clipped, moving.moments)
    shared = jax.tree.map(lambda x, u: x - rate * u, moving.shared, update)
    average = jax.tree.map(lambda a, x: AVERAGED * a + (1 - AVERAGED) * x, moving.average, shared)
    return found, Moving(shared, moments, average), slopes


@eqx.filter_jit
def slopes_of_units(
    objective: BlockObjective,
    shared: Crowd,
    own: Own,
    fixed: Crowd,
    baseline: Float[Array, "unit cohort"],
    days: UnitBlocks,
) -> Own:
    """The slopes of the recorded days' objective by what units have of their own."""
    alone = replace(objective, objective=replace(objective.objective, expected_weight=0.0))

    def value(own: Own) -> Float[Array, ""]:
        return _value(alone, (shared, own), fixed, baseline, days)

    return eqx.filter_grad(value)(own)


@eqx.filter_jit
def looked_at(
    objective: BlockObjective,
    shared: Crowd,
    units: UnitParameters,
    fixed: Crowd,
    train: UnitBlocks,
    validation: UnitBlocks,
) -> Float[Array, ""]:
    """The validation objective of units whose days are all there."""
    crowd = put_together(shared, fixed, units)
    return objective.validate(crowd, validation, objective.walked(crowd, train))


@eqx.filter_jit
def surprise_of(
    shared: Crowd, units: UnitParameters, fixed: Crowd, train: UnitBlocks
) -> SharedSurprise:
    """What units whose days are all there make of their arrival environment."""
    return shared_surprise(put_together(shared, fixed, units), train)


def filled_up(units: UnitParameters, length: int) -> UnitParameters:
    """With units that are not there at the end, up to that many."""
    more = ((0, length - len(units.arrival)), (0, 0))
    return UnitParameters(*(jnp.asarray(np.pad(np.asarray(x), more)) for x in units))
